//! The resources that a compiled entry uses.

use kiln_spec::KernelLimits;
use serde::Serialize;

use super::error::{Disagreement, InspectError};

/// The resources that one compiled entry uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Resources {
    /// 32-bit registers per thread; on AMD, the vector registers.
    pub registers: u32,
    /// Scalar registers per wave; `None` except on AMD.
    pub scalar_registers: Option<u32>,
    /// Stack per thread, in bytes: NVIDIA's local memory or AMD's scratch.
    pub stack_bytes: u32,
    /// What launches of the entry must respect. The static shared memory does not include the bytes that the driver
    /// reserves. Only the image states the rest.
    #[serde(flatten)]
    pub limits: KernelLimits,
    /// The spills; `None` if neither the log nor the image contains them.
    pub spills: Option<Spills>,
    /// Number of block barriers; `None` if neither the log nor the image contains it.
    pub barriers: Option<u32>,
}

/// Spills, in the unit that the vendor's compiler reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Spills {
    /// Bytes per thread that are stored and loaded again, as NVIDIA's `ptxas` reports them.
    Bytes {
        /// Bytes stored.
        stores: u32,
        /// Bytes loaded.
        loads: u32,
    },
    /// Numbers of spilled registers, as AMD's compiler reports them.
    Registers {
        /// Vector registers.
        vector: u32,
        /// Scalar registers.
        scalar: u32,
    },
}

impl Spills {
    /// A single number by which configs are ordered: the bytes that the spills move. A spilled vector register is
    /// stored and loaded, which moves 8 bytes. A spilled scalar register goes into a lane of a vector register, which
    /// costs little, so its weight is 1.
    pub fn weight(&self) -> u64 {
        match *self {
            Spills::Bytes { stores, loads } => u64::from(stores) + u64::from(loads),
            Spills::Registers { vector, scalar } => 8 * u64::from(vector) + u64::from(scalar),
        }
    }
}

impl std::fmt::Display for Spills {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Spills::Bytes {
                stores: 0,
                loads: 0,
            }
            | Spills::Registers {
                vector: 0,
                scalar: 0,
            } => f.write_str("0"),
            Spills::Bytes { stores, loads } => write!(f, "{stores}+{loads} B"),
            Spills::Registers { vector, scalar } => write!(f, "{vector}v+{scalar}s"),
        }
    }
}

impl Resources {
    /// The first figure for which the image (`self`) and the log have different values; `None` if they agree.
    pub fn disagreement(&self, log: &Resources) -> Option<Disagreement> {
        let same = [
            ("registers", Some(self.registers), Some(log.registers)),
            (
                "scalar registers",
                self.scalar_registers,
                log.scalar_registers,
            ),
            ("stack bytes", Some(self.stack_bytes), Some(log.stack_bytes)),
            (
                "static shared bytes",
                Some(self.limits.static_shared_bytes),
                Some(log.limits.static_shared_bytes),
            ),
        ];
        same.into_iter()
            .find_map(|(what, image, log)| match (image, log) {
                (Some(image), Some(log)) if image != log => Some(Disagreement { what, image, log }),
                _ => None,
            })
    }

    /// Adds the figures that only the log contains to the image's figures. It is an error if the log and the image
    /// disagree.
    pub(super) fn joined_with(
        self,
        log: &Resources,
        symbol: &str,
    ) -> Result<Resources, InspectError> {
        if let Some(differs) = self.disagreement(log) {
            return Err(InspectError::Disagree {
                symbol: symbol.into(),
                differs,
            });
        }
        Ok(Resources {
            scalar_registers: self.scalar_registers.or(log.scalar_registers),
            spills: self.spills.or(log.spills),
            barriers: self.barriers.or(log.barriers),
            ..self
        })
    }
}
