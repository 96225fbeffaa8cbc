//! Marks the registers of loads whose bytes hold no value. See [`crate::undefined`].

use super::access::extended;
use crate::ptx::code::{Access, Reg};
use crate::ptx::shared::Missing;
use crate::ptx::warp::Warp;

impl Warp {
    /// Marks the registers of a load whose bytes hold no value.
    pub(super) fn mark_loaded(&mut self, access: &Access, lane: usize, missing: &Missing) {
        let undefined = self.undefined.get_or_insert_default();
        for (i, reg) in (0..).zip(&access.regs) {
            let bytes = missing.bytes >> (i * access.bytes);
            let bits = extended(bits_of(bytes, access.bytes), access);
            undefined.set(reg.number(), lane, bits, missing.from);
        }
    }

    /// Marks a register of `bytes` bytes that an atomic operation loaded.
    pub(super) fn mark_missing(&mut self, reg: Reg, lane: usize, bytes: u32, missing: &Missing) {
        let undefined = self.undefined.get_or_insert_default();
        let bits = bits_of(missing.bytes, bytes);
        undefined.set(reg.number(), lane, bits, missing.from);
    }
}

/// The bits of the first `count` bytes of a mask of bytes.
pub(super) fn bits_of(bytes: u64, count: u32) -> u64 {
    let byte = |i: u32| {
        if bytes >> i & 1 != 0 {
            0xff << (8 * i)
        } else {
            0
        }
    };
    (0..count.min(8)).map(byte).fold(0, |all, bits| all | bits)
}
