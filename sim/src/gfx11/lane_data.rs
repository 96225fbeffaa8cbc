//! Memory accesses lane by lane: the values that each lane reads from and writes to its registers.

use super::isa::memory::{Access, Part};
use super::wave::Wave;
use crate::undefined::Origin;

/// The indices of the lanes in a mask, in ascending order.
pub(super) fn lanes_of(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let lane = left.trailing_zeros();
        left &= left.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// The new value of a register after a load: the loaded value, extended or merged with the old value.
#[inline]
fn extend(loaded: u32, old: u32, bytes: u8, signed: bool, part: Part) -> u32 {
    let extended = match (bytes, signed) {
        (1, true) => loaded as u8 as i8 as u32,
        (2, true) => loaded as u16 as i16 as u32,
        _ => loaded,
    };
    match part {
        Part::Whole => extended,
        Part::Low => old & 0xffff_0000 | extended & 0xffff,
        Part::High => old & 0xffff | extended << 16,
    }
}

/// The words of a lane's data registers. With [`Part::High`], the value is the high half of the first register.
#[inline]
pub(super) fn data(w: &Wave, register: u8, lane: usize, bytes: u8, part: Part) -> [u32; 4] {
    let mut value = [0; 4];
    for (i, value) in value
        .iter_mut()
        .take(usize::from(bytes.div_ceil(4)))
        .enumerate()
    {
        *value = w.vector[usize::from(register.wrapping_add(i as u8))][lane];
    }
    if part == Part::High {
        value[0] >>= 16;
    }
    value
}

/// Marks the undefined bits of a lane's registers after a load. `undefined` contains the undefined bits of the loaded
/// words, and `from` their origin, if there are any.
pub(super) fn deliver_marks(
    w: &mut Wave,
    dst: u8,
    lane: usize,
    (undefined, from): (&[u32; 4], Option<Origin>),
    access: Access,
) {
    let Access::Load {
        bytes,
        signed,
        part,
    } = access
    else {
        return;
    };
    let words = undefined.iter().take(usize::from(bytes.div_ceil(4)));
    for (i, &bits) in words.enumerate() {
        let register = dst.wrapping_add(i as u8);
        let (old, old_from) = w.undefined_bits(register, lane);
        // Marks are extended and merged in the same way as the values whose bits they mark.
        let bits = extend(bits, old, bytes, signed, part);
        w.mark(register, lane, bits, from.or(old_from));
    }
}

/// Writes a loaded value to a lane's registers.
#[inline]
pub(super) fn deliver(w: &mut Wave, dst: u8, lane: usize, value: &[u32; 4], access: Access) {
    let Access::Load {
        bytes,
        signed,
        part,
    } = access
    else {
        return;
    };
    for (i, &word) in value
        .iter()
        .take(usize::from(bytes.div_ceil(4)))
        .enumerate()
    {
        let old = &mut w.vector[usize::from(dst.wrapping_add(i as u8))][lane];
        *old = extend(word, *old, bytes, signed, part);
    }
}

/// The operands of a lane's atomic operation.
pub(super) fn operands(w: &Wave, registers: [u8; 2], lane: usize, bytes: u8) -> [u64; 2] {
    registers.map(|register| {
        let words = data(w, register, lane, bytes, Part::Whole);
        u64::from(words[0]) | u64::from(words[1]) << 32
    })
}

/// Writes the previous value of an atomic operation to a lane's registers.
pub(super) fn deliver_old(w: &mut Wave, dst: u8, lane: usize, bytes: u8, old: u64) {
    w.vector[usize::from(dst)][lane] = old as u32;
    if bytes == 8 {
        w.vector[usize::from(dst.wrapping_add(1))][lane] = (old >> 32) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_loads_extend_or_keep_the_other_half() {
        assert_eq!(extend(0x80, 0x1234_5678, 1, true, Part::Whole), 0xffff_ff80);
        assert_eq!(extend(0x80, 0x1234_5678, 1, false, Part::Whole), 0x80);
        assert_eq!(
            extend(0xabcd, 0x1234_5678, 2, false, Part::Low),
            0x1234_abcd
        );
        assert_eq!(
            extend(0xabcd, 0x1234_5678, 2, false, Part::High),
            0xabcd_5678
        );
        assert_eq!(extend(0x80, 0x1234_5678, 1, true, Part::High), 0xff80_5678);
    }

    #[test]
    fn lanes_are_listed_in_order() {
        assert_eq!(lanes_of(0x8000_0005).collect::<Vec<_>>(), [0, 2, 31]);
        assert_eq!(lanes_of(0).count(), 0);
    }
}
