//! Code that the tests of the workspace share: detection of tools, crates outside the workspace, tables for absent
//! devices, and checks of the promises in documentation.
#![forbid(unsafe_code)]

pub mod capability;
pub mod command;
pub mod conformance;
pub mod console;
pub mod cuda_stand_in;
pub mod hip_host;
pub mod hiprtc_stand_in;
pub mod importers;
pub mod plain_package;
pub mod recorded;
pub mod s3;
pub mod scale_package;
pub mod script;
pub mod slurm;
pub mod stand_in;
pub mod tables;
pub mod test_device;
pub mod throwaway;
