//! What a compiled kernel requires of its launches. Inspection, simulators and launches apply the same rules.
//!
//! NVIDIA: CUDA Programming Guide, "Shared Memory", "Thread Block Clusters" and "Kernel Arguments"; PTX ISA,
//! "Performance-Tuning Directives" and "Cluster Dimension Directives".

use serde::Serialize;

use crate::device::Backend;
use crate::device::limits::DeviceLimits;
use crate::plan::LaunchPlan;
use crate::targets::STATIC_SHARED_BYTES;
use crate::unlaunchable::Unlaunchable;

/// Maximum number of blocks of a cluster on every device that has clusters. More blocks need an attribute of the kernel
/// that Kiln does not set.
pub const BLOCKS_PER_CLUSTER: u64 = 8;

/// Maximum size of the parameters of a CUDA kernel, in bytes, since CUDA 12.1.
pub const PARAMETER_BYTES: u32 = 32_764;

/// What a compiled kernel requires of its launches, as its image or the driver states it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelLimits {
    /// Static shared memory per block, in bytes.
    pub static_shared_bytes: u32,
    /// Maximum number of threads per block; `None` if the kernel states none.
    pub max_threads: Option<u32>,
    /// The only block with which the kernel can be launched; `None` if it requires none.
    pub required_block: Option<[u32; 3]>,
    /// The clusters in which the kernel's blocks run; `None` without clusters.
    pub cluster: Option<Cluster>,
    /// Size of all parameters, in bytes; 0 if it is not known.
    pub parameter_bytes: u32,
}

/// The clusters that a kernel requires. NVIDIA GPUs have them since compute capability 9.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cluster {
    /// Blocks per cluster along each axis (x, y, z).
    pub blocks: [u32; 3],
    /// Whether the grid of a launch counts clusters instead of blocks.
    pub grid_of_clusters: bool,
}

impl Cluster {
    /// Number of blocks of a cluster.
    pub fn count(&self) -> u64 {
        let extents = self.blocks.iter().map(|&extent| u64::from(extent));
        extents.fold(1, u64::saturating_mul)
    }
}

impl KernelLimits {
    /// Checks a launch against what the kernel requires. [`LaunchPlan::check`] checks it against the device.
    ///
    /// # Errors
    /// The first requirement that the launch does not meet.
    #[inline]
    pub fn check(
        &self,
        backend: Backend,
        device: &DeviceLimits,
        plan: &LaunchPlan,
    ) -> Result<(), Unlaunchable> {
        self.check_block(plan)?;
        self.check_shared(backend, device, plan)?;
        if let Some(cluster) = &self.cluster {
            check_cluster(cluster, plan)?;
        }
        let bytes = self.parameter_bytes;
        if backend == Backend::Cuda && bytes > PARAMETER_BYTES {
            let most = PARAMETER_BYTES;
            return Err(Unlaunchable::Parameters { bytes, most });
        }
        Ok(())
    }

    #[inline]
    fn check_block(&self, plan: &LaunchPlan) -> Result<(), Unlaunchable> {
        let threads = plan.threads_per_block();
        match (self.required_block, self.max_threads) {
            (Some(required), _) if required != plan.block => Err(Unlaunchable::Block {
                block: plan.block,
                required,
            }),
            (_, Some(most)) if threads > u64::from(most) => {
                Err(Unlaunchable::Threads { threads, most })
            }
            _ => Ok(()),
        }
    }

    #[inline]
    fn check_shared(
        &self,
        backend: Backend,
        device: &DeviceLimits,
        plan: &LaunchPlan,
    ) -> Result<(), Unlaunchable> {
        let bytes = self.static_shared_bytes;
        if backend == Backend::Cuda && bytes > STATIC_SHARED_BYTES {
            let most = STATIC_SHARED_BYTES;
            return Err(Unlaunchable::StaticShared { bytes, most });
        }
        let most = device.shared_bytes_per_block;
        if u64::from(bytes) + u64::from(plan.shared_bytes) > u64::from(most) {
            return Err(Unlaunchable::Shared {
                static_bytes: bytes,
                dynamic_bytes: plan.shared_bytes,
                most,
            });
        }
        Ok(())
    }
}

/// Checks that a plan's grid consists of whole clusters of a size that every device grants.
fn check_cluster(cluster: &Cluster, plan: &LaunchPlan) -> Result<(), Unlaunchable> {
    let blocks = cluster.count();
    if blocks > BLOCKS_PER_CLUSTER {
        let most = BLOCKS_PER_CLUSTER;
        return Err(Unlaunchable::ClusterBlocks { blocks, most });
    }
    if cluster.grid_of_clusters && blocks > 1 {
        return Err(Unlaunchable::GridOfClusters {
            cluster: cluster.blocks,
        });
    }
    let whole =
        |(grid, cluster): (&u32, &u32)| grid.checked_rem(*cluster).is_none_or(|rest| rest == 0);
    if plan.grid.iter().zip(&cluster.blocks).all(whole) {
        return Ok(());
    }
    Err(Unlaunchable::Cluster {
        grid: plan.grid,
        cluster: cluster.blocks,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets;

    const PLAN: LaunchPlan = LaunchPlan {
        grid: [6, 1, 1],
        block: [64, 2, 1],
        shared_bytes: 1024,
    };

    fn check(arch: &str, kernel: KernelLimits) -> Result<(), Unlaunchable> {
        let target = targets::target(arch).unwrap();
        kernel.check(target.backend, &target.limits, &PLAN)
    }

    #[test]
    fn static_shared_memory_has_a_limit_of_its_own_on_nvidia_and_the_blocks_on_amd() {
        let of = |static_shared_bytes| KernelLimits {
            static_shared_bytes,
            ..KernelLimits::default()
        };
        for arch in ["sm_86", "sm_89", "sm_90"] {
            assert_eq!(check(arch, of(49_152)), Ok(()), "{arch}");
            let over = check(arch, of(49_153)).unwrap_err();
            assert_eq!(over.name(), "static shared memory over a kernel's");
        }
        assert_eq!(check("gfx1151", of(64_512)), Ok(()));
        let over = check("gfx1151", of(64_513)).unwrap_err();
        assert_eq!(over.name(), "shared memory over a block's");
        assert!(check("cpu", of(u32::MAX)).is_err());
    }

    #[test]
    fn threads_and_blocks_are_compared_with_what_the_kernel_states() {
        let of = |max_threads, required_block| KernelLimits {
            max_threads,
            required_block,
            ..KernelLimits::default()
        };
        assert_eq!(check("sm_90", of(Some(128), Some([64, 2, 1]))), Ok(()));
        assert!(check("sm_90", of(Some(127), None)).is_err());
        let other = check("sm_90", of(Some(128), Some([128, 1, 1]))).unwrap_err();
        assert_eq!(
            other.to_string(),
            "block other than the kernel's: [64, 2, 1] threads, but the kernel requires [128, 1, 1]"
        );
    }

    #[test]
    fn a_grid_consists_of_whole_clusters_of_at_most_eight_blocks() {
        let of = |blocks, grid_of_clusters| KernelLimits {
            cluster: Some(Cluster {
                blocks,
                grid_of_clusters,
            }),
            ..KernelLimits::default()
        };
        for blocks in [[1, 1, 1], [2, 1, 1], [3, 1, 1], [6, 1, 1], [0, 0, 0]] {
            assert_eq!(check("sm_90", of(blocks, false)), Ok(()), "{blocks:?}");
        }
        assert_eq!(check("sm_90", of([1, 1, 1], true)), Ok(()));
        let name = |blocks, counts| check("sm_90", of(blocks, counts)).unwrap_err().name();
        assert_eq!(name([4, 1, 1], false), "grid of incomplete clusters");
        assert_eq!(name([2, 2, 1], false), "grid of incomplete clusters");
        assert_eq!(name([3, 3, 1], false), "cluster over a device's");
        assert_eq!(name([2, 1, 1], true), "grid that counts clusters");
    }

    #[test]
    fn parameters_have_a_limit_on_nvidia() {
        let of = |parameter_bytes| KernelLimits {
            parameter_bytes,
            ..KernelLimits::default()
        };
        assert_eq!(check("sm_86", of(32_764)), Ok(()));
        assert!(check("sm_86", of(32_765)).is_err());
        assert_eq!(check("gfx1151", of(32_765)), Ok(()));
    }
}
