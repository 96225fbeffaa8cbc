//! Exit codes.

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

/// The sources or the version are not those of a fleet's plan.
pub const OTHER_SOURCES: u8 = 6;
/// Another attempt, perhaps on another machine, may succeed: EX_TEMPFAIL of `sysexits.h`, which schedulers can be told
/// to take for it.
pub const TRY_AGAIN: u8 = 75;
