//! The exit codes of `tune`.

/// Success.
pub const DONE: u8 = 0;
/// A check failed, or nothing valid was found.
pub const FAILED: u8 = 1;
/// The command line is invalid.
pub const USAGE: u8 = 2;
/// The device does not exist.
pub const NO_DEVICE: u8 = 3;
/// Another process computes on the device.
pub const SHARED_GPU: u8 = 4;

/// The sources or the version of `tune` differ from those in a fleet's plan.
pub const OTHER_SOURCES: u8 = 6;
/// The command may succeed if it is run again, perhaps on another machine. This is `EX_TEMPFAIL` of `sysexits.h`, which
/// schedulers can be configured to retry.
pub const TRY_AGAIN: u8 = 75;
