//! `mov` between a register and its parts (PTX ISA 9.7.9.4).

use super::regs::{Run, map1, map2, map4};

/// `d = {a, b}` or `{a, b, c, e}`. The first part is the lowest.
pub(super) fn pack(bits: u32, parts: usize) -> Option<Run> {
    Some(match (bits, parts) {
        (64, 2) => |r, x, m| map2(r, x, m, |a: u32, b: u32| u64::from(b) << 32 | u64::from(a)),
        (32, 2) => |r, x, m| map2(r, x, m, |a: u32, b: u32| b << 16 | a & 0xffff),
        (16, 2) => |r, x, m| map2(r, x, m, |a: u32, b: u32| (b & 0xff) << 8 | a & 0xff),
        (64, 4) => |r, x, m| {
            map4(r, x, m, |a: u16, b: u16, c: u16, e: u16| {
                [e, c, b, a]
                    .iter()
                    .fold(0u64, |all, &part| all << 16 | u64::from(part))
            })
        },
        (32, 4) => |r, x, m| {
            map4(r, x, m, |a: u8, b: u8, c: u8, e: u8| {
                [e, c, b, a]
                    .iter()
                    .fold(0u32, |all, &part| all << 8 | u32::from(part))
            })
        },
        _ => return None,
    })
}

/// One part of `a`, which begins at bit `flags`.
pub(super) fn unpack(bits: u32, parts: usize) -> Option<Run> {
    Some(match (bits, parts) {
        (64, 2) => |r, x, m| map1(r, x, m, |a: u64| (a >> x.flags) as u32),
        (64, 4) => |r, x, m| map1(r, x, m, |a: u64| (a >> x.flags) as u16),
        (32, 2) => |r, x, m| map1(r, x, m, |a: u32| (a >> x.flags) as u16),
        (32, 4) | (16, 2) => |r, x, m| map1(r, x, m, |a: u32| (a >> x.flags) as u8),
        _ => return None,
    })
}
