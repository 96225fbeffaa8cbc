//! Simulated GPUs: `sim:sm_89`, `sim:gfx1151`. They execute the image of the real GPU by the interpreters of `kiln-sim`.
//!
//! A simulated device has the key and the limits of the GPU that it stands for (`cuda/sm_89/NVIDIA L4`), so that a launch
//! selects the same row and compiles the same unit. [`DeviceInfo::is_simulated`](crate::device::DeviceInfo) tells the two apart.
//! It has no clock: timing is refused. For NVIDIA GPUs it executes the PTX of a unit, because the machine code of a
//! cubin is not documented; a baked cubin is therefore not executed, and the unit is compiled again.

mod compiler;
mod device;
mod memory;
mod module;
mod profile;

pub use device::{SimDevice, targets};
pub use kiln_sim::{Class, Counters, InstructionInfo, Traffic};
pub use profile::LaunchProfile;
