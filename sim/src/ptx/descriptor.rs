//! Matrix descriptors of `wgmma` (PTX ISA 9.7.15.5.1), which specify where the elements of a matrix are in shared
//! memory.
//!
//! A matrix consists of pieces of 16 bytes, each with eight elements of 16 bits that are neighbours in the major
//! dimension. An instruction reads 16 elements in dimension K, and 8 to 256 elements in the other dimension (M or N).
//! The layouts are the canonical ones of CUTLASS (`mma_traits_sm90_gmma.hpp`). Swizzling XORs bits of an address into
//! the bits from bit 4 on: bits 7 to 9 for the swizzle of 128 bytes, bits 7 and 8 for that of 64 bytes, and bit 7 for
//! that of 32 bytes. The pattern therefore repeats after 1024, 512 or 256 bytes, and a tile begins at a multiple of that
//! size.

/// Number of bytes of a piece.
pub(super) const PIECE: u32 = 16;
/// Number of elements of a piece.
pub(super) const ELEMENTS: usize = 8;

/// A decoded descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    /// The address of the first element, in bytes.
    start: u32,
    /// The leading dimension byte offset.
    leading: u32,
    /// The stride dimension byte offset.
    stride: u32,
    /// Number of pieces in a row of the swizzle pattern: 1 (no swizzle), 2, 4 or 8.
    width: u32,
}

impl Descriptor {
    /// Decodes a descriptor.
    ///
    /// # Errors
    /// A sentence about the field that the simulator does not accept.
    pub fn decode(bits: u64) -> Result<Descriptor, String> {
        let field = |at: u32| (bits >> at & 0x3fff) as u32 * PIECE;
        let base_offset = bits >> 49 & 7;
        if base_offset != 0 {
            return Err(format!(
                "the matrix descriptor {bits:#018x} has the base offset {base_offset}, but only 0 is implemented"
            ));
        }
        const UNUSED: u64 = 0x3ff1_c000_c000_c000;
        if bits & UNUSED != 0 {
            return Err(format!(
                "the matrix descriptor {bits:#018x} has bits outside its fields"
            ));
        }
        Ok(Descriptor {
            start: field(0),
            leading: field(16),
            stride: field(32),
            width: match bits >> 62 {
                0 => 1,
                1 => 8,
                2 => 4,
                _ => 2,
            },
        })
    }

    /// The address of a piece of a K-major matrix: elements `8 half` to `8 half + 7` in dimension K of row `row`.
    pub fn k_major(&self, row: u32, half: u32) -> u32 {
        let step = match self.width {
            1 => self.leading,
            _ => PIECE,
        };
        self.swizzled(row % 8 * (PIECE * self.width) + row / 8 * self.stride + half * step)
    }

    /// The address of a piece of an MN-major matrix: elements `8 piece` to `8 piece + 7` in dimension M or N of row
    /// `k`.
    pub fn mn_major(&self, piece: u32, k: u32) -> u32 {
        let (column, row) = match self.width {
            1 => (piece * self.stride, k % 8 * PIECE + k / 8 * self.leading),
            width => (
                piece % width * PIECE + piece / width * self.leading,
                k % 8 * (PIECE * width) + k / 8 * self.stride,
            ),
        };
        self.swizzled(column + row)
    }

    fn swizzled(&self, offset: u32) -> u32 {
        let address = self.start.wrapping_add(offset);
        address ^ (address >> 7 & (self.width - 1)) << 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: u64 = 0;
    const B128: u64 = 1;
    const B64: u64 = 2;
    const B32: u64 = 3;

    fn descriptor(start: u64, leading: u64, stride: u64, swizzle: u64) -> Descriptor {
        let bits = start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | swizzle << 62;
        Descriptor::decode(bits).unwrap()
    }

    #[test]
    fn rows_of_a_k_major_matrix_without_swizzle_are_next_to_each_other() {
        let matrix = descriptor(0x400, 0x800, 0x80, NONE);
        assert_eq!(matrix.k_major(0, 0), 0x400);
        assert_eq!(matrix.k_major(3, 0), 0x430);
        assert_eq!(matrix.k_major(8, 0), 0x480);
        assert_eq!(matrix.k_major(17, 1), 0xd10);
    }

    #[test]
    fn rows_of_a_k_major_matrix_with_swizzle_have_the_width_of_the_pattern() {
        // 32 bytes: rows 4 to 7 of each 8 exchange their two pieces.
        let matrix = descriptor(0x400, 0, 0x100, B32);
        assert_eq!(matrix.k_major(3, 0), 0x460);
        assert_eq!(matrix.k_major(4, 0), 0x490);
        assert_eq!(matrix.k_major(4, 1), 0x480);
        assert_eq!(matrix.k_major(9, 1), 0x530);
        // 64 bytes: two rows per 128 bytes.
        let matrix = descriptor(0x400, 0, 0x200, B64);
        assert_eq!(matrix.k_major(1, 1), 0x450);
        assert_eq!(matrix.k_major(2, 0), 0x490);
        assert_eq!(matrix.k_major(5, 0), 0x560);
        assert_eq!(matrix.k_major(7, 1), 0x5e0);
        assert_eq!(matrix.k_major(8, 0), 0x600);
        // 128 bytes: each row has its own pattern.
        let matrix = descriptor(0x400, 0, 0x400, B128);
        assert_eq!(matrix.k_major(0, 1), 0x410);
        assert_eq!(matrix.k_major(1, 0), 0x490);
        assert_eq!(matrix.k_major(5, 1), 0x6c0);
        assert_eq!(matrix.k_major(15, 0), 0xbf0);
        // The next 16 elements in dimension K begin 32 bytes later.
        let matrix = descriptor(0x420, 0, 0x400, B128);
        assert_eq!(matrix.k_major(0, 0), 0x420);
        assert_eq!(matrix.k_major(3, 0), 0x590);
        assert_eq!(matrix.k_major(3, 1), 0x580);
    }

    #[test]
    fn an_mn_major_matrix_without_swizzle_has_blocks_of_eight_rows() {
        let matrix = descriptor(0x400, 0x1000, 0x80, NONE);
        assert_eq!(matrix.mn_major(0, 5), 0x450);
        assert_eq!(matrix.mn_major(3, 0), 0x580);
        assert_eq!(matrix.mn_major(1, 9), 0x1490);
    }

    #[test]
    fn an_mn_major_matrix_with_swizzle_has_columns_of_patterns() {
        let matrix = descriptor(0x400, 0x2000, 0x400, B128);
        assert_eq!(matrix.mn_major(7, 0), 0x470);
        assert_eq!(matrix.mn_major(0, 1), 0x490);
        assert_eq!(matrix.mn_major(6, 3), 0x5d0);
        assert_eq!(matrix.mn_major(8, 0), 0x2400);
        assert_eq!(matrix.mn_major(9, 10), 0x2930);
        let matrix = descriptor(0x400, 0x1000, 0x200, B64);
        assert_eq!(matrix.mn_major(3, 1), 0x470);
        assert_eq!(matrix.mn_major(1, 6), 0x5a0);
        assert_eq!(matrix.mn_major(5, 8), 0x1610);
        let matrix = descriptor(0x400, 0x800, 0x100, B32);
        assert_eq!(matrix.mn_major(1, 3), 0x470);
        assert_eq!(matrix.mn_major(1, 4), 0x480);
        assert_eq!(matrix.mn_major(2, 13), 0xdb0);
    }

    #[test]
    fn a_base_offset_and_bits_outside_the_fields_are_refused() {
        assert!(Descriptor::decode(1 << 49).is_err());
        assert!(Descriptor::decode(1 << 14).is_err());
        assert!(Descriptor::decode(1 << 61).is_err());
        assert!(Descriptor::decode(1 << 62).is_ok());
    }
}
