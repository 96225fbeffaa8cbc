//! Paths of files that exist only in memory.

use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicU64, Ordering};

/// A path to an open file. No two calls return the same path. This matters because the loader identifies an object by
/// its path, and descriptor numbers are reused. The path therefore contains a serial number in components that the
/// operating system ignores: `./` for a 0 bit and `.//` for a 1 bit.
pub(super) fn unique_path(file: &File) -> String {
    static SERIAL: AtomicU64 = AtomicU64::new(0);
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let bits = (0..u64::BITS - serial.leading_zeros()).rev();
    let dots: String = bits
        .map(|bit| if serial >> bit & 1 == 1 { ".//" } else { "./" })
        .collect();
    format!("/proc/{}/fd/{dots}{}", std::process::id(), file.as_raw_fd())
}
