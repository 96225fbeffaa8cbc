//! Data-parallel primitives (DPP): sources that are read from other lanes.
//!
//! AMD, "RDNA3 Instruction Set Architecture", sections 15.3.2 (DPP16) and 15.3.3 (DPP8).

use super::instruction::Dpp;
use super::operand::UnknownOperand;
use super::words::bits;

/// Stands for a source lane outside the row.
pub(crate) const OUTSIDE: u8 = 0xff;

/// Codes of the first source. They mean that a DPP word follows the instruction.
pub(super) const DPP8: u32 = 233;
pub(super) const DPP8_FETCH_INACTIVE: u32 = 234;
pub(super) const DPP16: u32 = 250;

/// The source lanes of DPP8. Each group of eight lanes selects among its own lanes.
pub(super) fn dpp8(word: u32, fetch_inactive: bool) -> Dpp {
    let lanes = std::array::from_fn(|lane| {
        let select = bits(word, 8 + (lane as u32 % 8) * 3, 3);
        (lane as u32 / 8 * 8 + select) as u8
    });
    Dpp {
        lanes,
        enabled: u32::MAX,
        bound_zero: true,
        fetch_inactive,
    }
}

/// The source lanes of DPP16. Each row of 16 lanes selects among its own lanes.
pub(super) fn dpp16(word: u32) -> Result<Dpp, UnknownOperand> {
    let control = bits(word, 8, 9);
    let mut lanes = [OUTSIDE; 32];
    for (lane, from) in lanes.iter_mut().enumerate() {
        let (row, within) = (lane as u32 & 16, lane as u32 & 15);
        let amount = control & 15;
        let source = match control {
            0x000..=0x0ff => Some(within & !3 | control >> ((within & 3) * 2) & 3),
            0x101..=0x10f => Some(within + amount).filter(|&lane| lane < 16),
            0x111..=0x11f => within.checked_sub(amount),
            0x121..=0x12f => Some(within.wrapping_sub(amount) & 15),
            0x140 => Some(15 - within),
            0x141 => Some(within & 8 | (7 - (within & 7))),
            0x150..=0x15f => Some(amount),
            0x160..=0x16f => Some(within ^ amount),
            _ => return Err(UnknownOperand),
        };
        if let Some(source) = source {
            *from = (row + source) as u8;
        }
    }
    let enabled = (0..32u32).filter(|lane| {
        let (row, bank) = (lane / 16, lane / 4 % 4);
        bits(word, 28 + row, 1) != 0 && bits(word, 24 + bank, 1) != 0
    });
    Ok(Dpp {
        lanes,
        enabled: enabled.fold(0, |mask, lane| mask | 1 << lane),
        bound_zero: bits(word, 19, 1) != 0,
        fetch_inactive: bits(word, 18, 1) != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(control: u32) -> [u8; 32] {
        dpp16(0xff00_0000 | control << 8).unwrap().lanes
    }

    #[test]
    fn rows_of_16_shift_rotate_mirror_and_share() {
        let shl = lanes(0x103);
        assert_eq!((shl[0], shl[12], shl[13], shl[16]), (3, 15, OUTSIDE, 19));
        let shr = lanes(0x111);
        assert_eq!(
            (shr[0], shr[1], shr[16], shr[31]),
            (OUTSIDE, 0, OUTSIDE, 30)
        );
        let ror = lanes(0x121);
        assert_eq!((ror[0], ror[1], ror[16]), (15, 0, 31));
        assert_eq!(lanes(0x140)[..3], [15, 14, 13]);
        assert_eq!(lanes(0x141)[6..10], [1, 0, 15, 14]);
        assert_eq!((lanes(0x153)[9], lanes(0x153)[20]), (3, 19));
        assert_eq!((lanes(0x161)[4], lanes(0x161)[17]), (5, 16));
        assert_eq!(lanes(0b00_01_10_11)[4..8], [7, 6, 5, 4]);
    }

    #[test]
    fn masks_of_rows_and_banks_disable_lanes() {
        let dpp = dpp16(0xf500_0000 | 0x103 << 8).unwrap();
        assert_eq!(dpp.enabled, 0x0f0f_0f0f);
        assert_eq!(dpp16(0x1f00_0000).unwrap().enabled, 0xffff);
    }

    #[test]
    fn eight_lanes_select_among_each_other() {
        let dpp = dpp8(0x0539_7701, false);
        assert_eq!(dpp.lanes[..9], [7, 6, 5, 4, 3, 2, 1, 0, 15]);
    }
}
