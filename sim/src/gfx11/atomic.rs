//! The arithmetic of atomic operations.
//!
//! AMD, "RDNA3 Instruction Set Architecture", the pseudo-code of DS and FLAT atomics.

use super::isa::memory::Atomic;

/// The new value in memory. `data` contains the operands. For a compare-and-swap, these are the new value and the
/// comparand.
pub(super) fn apply(op: Atomic, bytes: u8, old: u64, data: [u64; 2]) -> u64 {
    let [value, comparand] = data;
    let wide = bytes == 8;
    let signed = |x: u64| {
        if wide {
            x as i64
        } else {
            i64::from(x as u32 as i32)
        }
    };
    let float = |x: u64| {
        if wide {
            f64::from_bits(x)
        } else {
            f64::from(f32::from_bits(x as u32))
        }
    };
    let value_if = |stores: bool| if stores { value } else { old };
    match op {
        Atomic::Swap => value,
        Atomic::CompareSwap => value_if(old == comparand),
        Atomic::CompareSwapF32 => value_if(float(old) == float(comparand)),
        Atomic::Add => old.wrapping_add(value),
        Atomic::Sub => old.wrapping_sub(value),
        Atomic::ReverseSub => value.wrapping_sub(old),
        Atomic::MinI => value_if(signed(value) < signed(old)),
        Atomic::MaxI => value_if(signed(value) > signed(old)),
        Atomic::MinU => value.min(old),
        Atomic::MaxU => value.max(old),
        Atomic::And => old & value,
        Atomic::Or => old | value,
        Atomic::Xor => old ^ value,
        Atomic::Inc if old >= value => 0,
        Atomic::Inc => old + 1,
        Atomic::Dec if old == 0 || old > value => value,
        Atomic::Dec => old - 1,
        Atomic::AddF32 => {
            u64::from((f32::from_bits(old as u32) + f32::from_bits(value as u32)).to_bits())
        }
        Atomic::MinF => value_if(float(value) < float(old) || float(old).is_nan()),
        Atomic::MaxF => value_if(float(value) > float(old) || float(old).is_nan()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_computes_what_its_name_says() {
        let of = |op, old, value| apply(op, 4, old, [value, 0]);
        assert_eq!(of(Atomic::MinI, 5, 0xffff_ffff), 0xffff_ffff);
        assert_eq!(of(Atomic::MinU, 5, 0xffff_ffff), 5);
        assert_eq!(of(Atomic::MaxI, 5, 0xffff_ffff), 5);
        assert_eq!((of(Atomic::Inc, 3, 3), of(Atomic::Inc, 2, 3)), (0, 3));
        assert_eq!(
            (
                of(Atomic::Dec, 0, 3),
                of(Atomic::Dec, 9, 3),
                of(Atomic::Dec, 2, 3)
            ),
            (3, 3, 1)
        );
        assert_eq!(of(Atomic::AddF32, 0x3f80_0000, 0x4000_0000), 0x4040_0000);
        assert_eq!(apply(Atomic::CompareSwap, 8, 7, [9, 7]), 9);
        assert_eq!(apply(Atomic::CompareSwap, 8, 8, [9, 7]), 8);
        assert_eq!(of(Atomic::ReverseSub, 3, 10), 7);
    }
}
