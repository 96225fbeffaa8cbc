//! VOP3P: packed arithmetic, dot products, mixed precision and matrix products.
//!
//! AMD, "RDNA3 Instruction Set Architecture", VOP3P.

use super::operand::Type::{self, B32, F32, PkF16};

macro_rules! packed_ops {
    ($($code:literal $op:ident $name:literal $dst:literal [$($src:ident $count:literal),*];)*) => {
        /// The operation of a VOP3P instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum PackedOp { $(#[doc = concat!("`", $name, "`.")] $op,)* }

        impl PackedOp {
            /// The instruction with this opcode.
            pub fn of(code: u32) -> Option<PackedOp> {
                Some(match code { $($code => PackedOp::$op,)* _ => return None })
            }

            /// The mnemonic.
            pub fn name(self) -> &'static str {
                match self { $(PackedOp::$op => $name,)* }
            }

            /// The number of result registers, and the type and number of registers of each source.
            pub fn shape(self) -> (u8, &'static [(Type, u8)]) {
                match self { $(PackedOp::$op => ($dst, &[$(($src, $count)),*]),)* }
            }
        }
    };
}

packed_ops! {
    0x00 MadI16 "v_pk_mad_i16" 1 [B32 1, B32 1, B32 1];
    0x01 MulLoU16 "v_pk_mul_lo_u16" 1 [B32 1, B32 1];
    0x02 AddI16 "v_pk_add_i16" 1 [B32 1, B32 1];
    0x03 SubI16 "v_pk_sub_i16" 1 [B32 1, B32 1];
    0x04 LshlrevB16 "v_pk_lshlrev_b16" 1 [B32 1, B32 1];
    0x05 LshrrevB16 "v_pk_lshrrev_b16" 1 [B32 1, B32 1];
    0x06 AshrrevI16 "v_pk_ashrrev_i16" 1 [B32 1, B32 1];
    0x07 MaxI16 "v_pk_max_i16" 1 [B32 1, B32 1];
    0x08 MinI16 "v_pk_min_i16" 1 [B32 1, B32 1];
    0x09 MadU16 "v_pk_mad_u16" 1 [B32 1, B32 1, B32 1];
    0x0a AddU16 "v_pk_add_u16" 1 [B32 1, B32 1];
    0x0b SubU16 "v_pk_sub_u16" 1 [B32 1, B32 1];
    0x0c MaxU16 "v_pk_max_u16" 1 [B32 1, B32 1];
    0x0d MinU16 "v_pk_min_u16" 1 [B32 1, B32 1];
    0x0e FmaF16 "v_pk_fma_f16" 1 [PkF16 1, PkF16 1, PkF16 1];
    0x0f AddF16 "v_pk_add_f16" 1 [PkF16 1, PkF16 1];
    0x10 MulF16 "v_pk_mul_f16" 1 [PkF16 1, PkF16 1];
    0x11 MinF16 "v_pk_min_f16" 1 [PkF16 1, PkF16 1];
    0x12 MaxF16 "v_pk_max_f16" 1 [PkF16 1, PkF16 1];
    0x13 Dot2F32F16 "v_dot2_f32_f16" 1 [PkF16 1, PkF16 1, F32 1];
    0x16 Dot4I32Iu8 "v_dot4_i32_iu8" 1 [B32 1, B32 1, B32 1];
    0x17 Dot4U32U8 "v_dot4_u32_u8" 1 [B32 1, B32 1, B32 1];
    0x18 Dot8I32Iu4 "v_dot8_i32_iu4" 1 [B32 1, B32 1, B32 1];
    0x19 Dot8U32U4 "v_dot8_u32_u4" 1 [B32 1, B32 1, B32 1];
    0x1a Dot2F32Bf16 "v_dot2_f32_bf16" 1 [B32 1, B32 1, F32 1];
    0x20 FmaMixF32 "v_fma_mix_f32" 1 [F32 1, F32 1, F32 1];
    0x21 FmaMixloF16 "v_fma_mixlo_f16" 1 [F32 1, F32 1, F32 1];
    0x22 FmaMixhiF16 "v_fma_mixhi_f16" 1 [F32 1, F32 1, F32 1];
    0x40 WmmaF32F16 "v_wmma_f32_16x16x16_f16" 8 [PkF16 8, PkF16 8, F32 8];
    0x41 WmmaF32Bf16 "v_wmma_f32_16x16x16_bf16" 8 [B32 8, B32 8, F32 8];
    0x42 WmmaF16F16 "v_wmma_f16_16x16x16_f16" 8 [PkF16 8, PkF16 8, PkF16 8];
    0x43 WmmaBf16Bf16 "v_wmma_bf16_16x16x16_bf16" 8 [B32 8, B32 8, B32 8];
    0x44 WmmaI32Iu8 "v_wmma_i32_16x16x16_iu8" 8 [B32 4, B32 4, B32 8];
    0x45 WmmaI32Iu4 "v_wmma_i32_16x16x16_iu4" 8 [B32 2, B32 2, B32 8];
}

impl PackedOp {
    /// Whether the instruction multiplies matrices.
    pub fn is_matrix(self) -> bool {
        self.shape().0 == 8
    }
}
