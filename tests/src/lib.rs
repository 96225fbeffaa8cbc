//! What the workspace tests share: which tools this machine has, crates outside the workspace, tables of devices that
//! are not here, and what documentation promises.
#![forbid(unsafe_code)]

pub mod capability;
pub mod command;
pub mod conformance;
pub mod console;
pub mod cuda_stand_in;
pub mod hip_host;
pub mod hiprtc_stand_in;
pub mod importers;
pub mod recorded;
pub mod stand_in;
pub mod tables;
pub mod test_device;
pub mod throwaway;
