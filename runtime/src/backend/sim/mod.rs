//! Simulated GPUs, such as `sim:sm_89` and `sim:gfx1151`. They execute images with the interpreters of `kiln-sim`.
//!
//! A simulated device has the key of the GPU that it simulates (`cuda/sm_89/NVIDIA L4`) and the limits of that GPU,
//! except that its memory has at most 4 GiB. A launch therefore selects the same row and generates the same translation
//! unit as on that GPU. [`DeviceInfo::is_simulated`](crate::device::DeviceInfo) and the fingerprint distinguish the
//! simulated device from the real one. A simulated device has no clock, so timing is not supported.
//!
//! For NVIDIA GPUs, a simulated device executes PTX, because the machine code in a cubin is not documented. It
//! therefore does not execute a baked cubin; instead, Kiln compiles the translation unit to PTX.

mod compiler;
mod device;
mod memory;
mod module;
mod profile;

pub use device::{SimDevice, targets};
pub use kiln_sim::{Class, Counters, InstructionInfo, SourceLine, Traffic};
pub use profile::LaunchProfile;
