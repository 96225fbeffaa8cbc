//! Decides whether a compiled config can be launched. The search skips configs that cannot be launched. It does not
//! skip configs that spill, because such a config is sometimes the fastest.

use kiln::device::DeviceInfo;
use kiln_spec::occupancy::BlockNeeds;
use kiln_spec::targets::{self, Multiprocessor};
use kiln_spec::{Backend, DeviceLimits, LaunchPlan, Unlaunchable};
use thiserror::Error;

use super::Resources;

/// The limits of a block on a device, or on a target that this machine does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchRules<'a> {
    /// The architecture. For architectures in the target table, the registers of a block are checked as well.
    pub arch: &'a str,
    /// The backend, whose vendor sets limits of its own.
    pub backend: Backend,
    /// The device limits, from the driver if there is one.
    pub limits: &'a DeviceLimits,
}

/// Why a compiled config cannot be launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CannotLaunch {
    /// The launch does not meet a requirement of the kernel.
    #[error(transparent)]
    Kernel(#[from] Unlaunchable),
    /// The block needs more registers than a block can have.
    #[error("{}: {registers} of each of {threads} threads", self.name())]
    Registers {
        /// Registers per thread.
        registers: u32,
        /// Threads per block.
        threads: u32,
    },
}

impl CannotLaunch {
    /// A short name of the reason, by which the report counts excluded configs.
    pub fn name(&self) -> &'static str {
        match self {
            CannotLaunch::Kernel(unlaunchable) => unlaunchable.name(),
            CannotLaunch::Registers { .. } => "registers over a block's",
        }
    }
}

/// The resources that one block needs under a launch plan.
pub fn block_needs(resources: &Resources, plan: &LaunchPlan) -> BlockNeeds {
    BlockNeeds {
        threads: u32::try_from(plan.threads_per_block()).unwrap_or(u32::MAX),
        registers: resources.registers,
        static_shared_bytes: resources.limits.static_shared_bytes,
        dynamic_shared_bytes: plan.shared_bytes,
        barriers: resources.barriers.unwrap_or(1),
    }
}

impl<'a> LaunchRules<'a> {
    /// The rules of a device.
    pub fn of(info: &'a DeviceInfo) -> LaunchRules<'a> {
        LaunchRules {
            arch: &info.key.arch,
            backend: info.key.backend,
            limits: &info.limits,
        }
    }

    /// Checks whether an entry with these resources can be launched under a launch plan.
    ///
    /// # Errors
    /// If the entry cannot be launched. The error is the first reason that was found.
    pub fn check(&self, resources: &Resources, plan: &LaunchPlan) -> Result<(), CannotLaunch> {
        resources.limits.check(self.backend, self.limits, plan)?;
        let block = block_needs(resources, plan);
        if self.registers_fit(&block) {
            return Ok(());
        }
        Err(CannotLaunch::Registers {
            registers: block.registers,
            threads: block.threads,
        })
    }

    /// Whether a block's registers fit. If the target table does not contain the architecture, returns `true`, and the
    /// driver decides at launch.
    fn registers_fit(&self, block: &BlockNeeds) -> bool {
        let Some(target) = targets::target(self.arch) else {
            return true;
        };
        let block = BlockNeeds {
            static_shared_bytes: 0,
            dynamic_shared_bytes: 0,
            ..*block
        };
        target.multiprocessor == Multiprocessor::Host
            || target
                .occupancy(&block)
                .is_none_or(|occupancy| occupancy.blocks > 0)
    }
}
