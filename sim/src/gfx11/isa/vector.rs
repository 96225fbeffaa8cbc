//! The instructions of the vector ALU.
//!
//! Opcodes and operand types follow AMD's "RDNA3 Instruction Set Architecture", chapter 16 ("Instructions", VOP1, VOP2,
//! VOP3), and "RDNA3.5 Instruction Set Architecture". VOP2 opcode `n` is VOP3 opcode `0x100 + n`, and VOP1 opcode `n`
//! is VOP3 opcode `0x180 + n`. Here, the code is always the VOP3 opcode.

use super::operand::Type::{self, B16, B32, B64, F16, F32, F64, Mask, Nothing, PkF16, Scalar};

macro_rules! vector_ops {
    ($($code:literal $op:ident $name:literal $dst:ident [$($src:ident)*];)*) => {
        /// The operation of a vector ALU instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum VectorOp { $(#[doc = concat!("`", $name, "`.")] $op,)* }

        impl VectorOp {
            /// The instruction with this VOP3 opcode.
            pub fn of(code: u32) -> Option<VectorOp> {
                Some(match code { $($code => VectorOp::$op,)* _ => return None })
            }

            /// The mnemonic, without the suffix of the encoding.
            pub fn name(self) -> &'static str {
                match self { $(VectorOp::$op => $name,)* }
            }

            /// The type of the result, and the type of each source.
            pub fn types(self) -> (Type, &'static [Type]) {
                match self { $(VectorOp::$op => ($dst, &[$($src),*]),)* }
            }
        }
    };
}

vector_ops! {
    0x101 CndmaskB32 "v_cndmask_b32" B32 [B32 B32 Mask];
    0x102 Dot2accF32F16 "v_dot2acc_f32_f16" F16 [PkF16 PkF16];
    0x103 AddF32 "v_add_f32" F32 [F32 F32];
    0x104 SubF32 "v_sub_f32" F32 [F32 F32];
    0x105 SubrevF32 "v_subrev_f32" F32 [F32 F32];
    0x106 FmacDx9ZeroF32 "v_fmac_dx9_zero_f32" F32 [F32 F32];
    0x107 MulDx9ZeroF32 "v_mul_dx9_zero_f32" F32 [F32 F32];
    0x108 MulF32 "v_mul_f32" F32 [F32 F32];
    0x109 MulI32I24 "v_mul_i32_i24" B32 [B32 B32];
    0x10a MulHiI32I24 "v_mul_hi_i32_i24" B32 [B32 B32];
    0x10b MulU32U24 "v_mul_u32_u24" B32 [B32 B32];
    0x10c MulHiU32U24 "v_mul_hi_u32_u24" B32 [B32 B32];
    0x10f MinF32 "v_min_f32" F32 [F32 F32];
    0x110 MaxF32 "v_max_f32" F32 [F32 F32];
    0x111 MinI32 "v_min_i32" B32 [B32 B32];
    0x112 MaxI32 "v_max_i32" B32 [B32 B32];
    0x113 MinU32 "v_min_u32" B32 [B32 B32];
    0x114 MaxU32 "v_max_u32" B32 [B32 B32];
    0x118 LshlrevB32 "v_lshlrev_b32" B32 [B32 B32];
    0x119 LshrrevB32 "v_lshrrev_b32" B32 [B32 B32];
    0x11a AshrrevI32 "v_ashrrev_i32" B32 [B32 B32];
    0x11b AndB32 "v_and_b32" B32 [B32 B32];
    0x11c OrB32 "v_or_b32" B32 [B32 B32];
    0x11d XorB32 "v_xor_b32" B32 [B32 B32];
    0x11e XnorB32 "v_xnor_b32" B32 [B32 B32];
    0x120 AddCoCiU32 "v_add_co_ci_u32" B32 [B32 B32 Mask];
    0x121 SubCoCiU32 "v_sub_co_ci_u32" B32 [B32 B32 Mask];
    0x122 SubrevCoCiU32 "v_subrev_co_ci_u32" B32 [B32 B32 Mask];
    0x125 AddNcU32 "v_add_nc_u32" B32 [B32 B32];
    0x126 SubNcU32 "v_sub_nc_u32" B32 [B32 B32];
    0x127 SubrevNcU32 "v_subrev_nc_u32" B32 [B32 B32];
    0x12b FmacF32 "v_fmac_f32" F32 [F32 F32];
    0x12c FmamkF32 "v_fmamk_f32" F32 [F32 F32 F32];
    0x12d FmaakF32 "v_fmaak_f32" F32 [F32 F32 F32];
    0x12f CvtPkRtzF16F32 "v_cvt_pk_rtz_f16_f32" B32 [F32 F32];
    0x132 AddF16 "v_add_f16" F16 [F16 F16];
    0x133 SubF16 "v_sub_f16" F16 [F16 F16];
    0x134 SubrevF16 "v_subrev_f16" F16 [F16 F16];
    0x135 MulF16 "v_mul_f16" F16 [F16 F16];
    0x136 FmacF16 "v_fmac_f16" F16 [F16 F16];
    0x137 FmamkF16 "v_fmamk_f16" F16 [F16 F16 F16];
    0x138 FmaakF16 "v_fmaak_f16" F16 [F16 F16 F16];
    0x139 MaxF16 "v_max_f16" F16 [F16 F16];
    0x13a MinF16 "v_min_f16" F16 [F16 F16];
    0x13b LdexpF16 "v_ldexp_f16" F16 [F16 B16];
    0x13c PkFmacF16 "v_pk_fmac_f16" B32 [PkF16 PkF16];
    0x180 Nop "v_nop" Nothing [];
    0x181 MovB32 "v_mov_b32" B32 [B32];
    0x182 ReadfirstlaneB32 "v_readfirstlane_b32" Scalar [B32];
    0x183 CvtI32F64 "v_cvt_i32_f64" B32 [F64];
    0x184 CvtF64I32 "v_cvt_f64_i32" F64 [B32];
    0x185 CvtF32I32 "v_cvt_f32_i32" F32 [B32];
    0x186 CvtF32U32 "v_cvt_f32_u32" F32 [B32];
    0x187 CvtU32F32 "v_cvt_u32_f32" B32 [F32];
    0x188 CvtI32F32 "v_cvt_i32_f32" B32 [F32];
    0x18a CvtF16F32 "v_cvt_f16_f32" F16 [F32];
    0x18b CvtF32F16 "v_cvt_f32_f16" F32 [F16];
    0x18c CvtNearestI32F32 "v_cvt_nearest_i32_f32" B32 [F32];
    0x18d CvtFloorI32F32 "v_cvt_floor_i32_f32" B32 [F32];
    0x18e CvtOffF32I4 "v_cvt_off_f32_i4" F32 [B32];
    0x18f CvtF32F64 "v_cvt_f32_f64" F32 [F64];
    0x190 CvtF64F32 "v_cvt_f64_f32" F64 [F32];
    0x191 CvtF32Ubyte0 "v_cvt_f32_ubyte0" F32 [B32];
    0x192 CvtF32Ubyte1 "v_cvt_f32_ubyte1" F32 [B32];
    0x193 CvtF32Ubyte2 "v_cvt_f32_ubyte2" F32 [B32];
    0x194 CvtF32Ubyte3 "v_cvt_f32_ubyte3" F32 [B32];
    0x195 CvtU32F64 "v_cvt_u32_f64" B32 [F64];
    0x196 CvtF64U32 "v_cvt_f64_u32" F64 [B32];
    0x197 TruncF64 "v_trunc_f64" F64 [F64];
    0x198 CeilF64 "v_ceil_f64" F64 [F64];
    0x199 RndneF64 "v_rndne_f64" F64 [F64];
    0x19a FloorF64 "v_floor_f64" F64 [F64];
    0x19b PipeFlush "v_pipeflush" Nothing [];
    0x19c MovB16 "v_mov_b16" B16 [B16];
    0x1a0 FractF32 "v_fract_f32" F32 [F32];
    0x1a1 TruncF32 "v_trunc_f32" F32 [F32];
    0x1a2 CeilF32 "v_ceil_f32" F32 [F32];
    0x1a3 RndneF32 "v_rndne_f32" F32 [F32];
    0x1a4 FloorF32 "v_floor_f32" F32 [F32];
    0x1a5 ExpF32 "v_exp_f32" F32 [F32];
    0x1a7 LogF32 "v_log_f32" F32 [F32];
    0x1aa RcpF32 "v_rcp_f32" F32 [F32];
    0x1ab RcpIflagF32 "v_rcp_iflag_f32" F32 [F32];
    0x1ae RsqF32 "v_rsq_f32" F32 [F32];
    0x1af RcpF64 "v_rcp_f64" F64 [F64];
    0x1b1 RsqF64 "v_rsq_f64" F64 [F64];
    0x1b3 SqrtF32 "v_sqrt_f32" F32 [F32];
    0x1b4 SqrtF64 "v_sqrt_f64" F64 [F64];
    0x1b5 SinF32 "v_sin_f32" F32 [F32];
    0x1b6 CosF32 "v_cos_f32" F32 [F32];
    0x1b7 NotB32 "v_not_b32" B32 [B32];
    0x1b8 BfrevB32 "v_bfrev_b32" B32 [B32];
    0x1b9 ClzI32U32 "v_clz_i32_u32" B32 [B32];
    0x1ba CtzI32B32 "v_ctz_i32_b32" B32 [B32];
    0x1bb ClsI32 "v_cls_i32" B32 [B32];
    0x1bc FrexpExpI32F64 "v_frexp_exp_i32_f64" B32 [F64];
    0x1bd FrexpMantF64 "v_frexp_mant_f64" F64 [F64];
    0x1be FractF64 "v_fract_f64" F64 [F64];
    0x1bf FrexpExpI32F32 "v_frexp_exp_i32_f32" B32 [F32];
    0x1c0 FrexpMantF32 "v_frexp_mant_f32" F32 [F32];
    0x1c2 MovreldB32 "v_movreld_b32" B32 [B32];
    0x1c3 MovrelsB32 "v_movrels_b32" B32 [B32];
    0x1c4 MovrelsdB32 "v_movrelsd_b32" B32 [B32];
    0x1c8 Movrelsd2B32 "v_movrelsd_2_b32" B32 [B32];
    0x1d0 CvtF16U16 "v_cvt_f16_u16" F16 [B16];
    0x1d1 CvtF16I16 "v_cvt_f16_i16" F16 [B16];
    0x1d2 CvtU16F16 "v_cvt_u16_f16" B16 [F16];
    0x1d3 CvtI16F16 "v_cvt_i16_f16" B16 [F16];
    0x1d4 RcpF16 "v_rcp_f16" F16 [F16];
    0x1d5 SqrtF16 "v_sqrt_f16" F16 [F16];
    0x1d6 RsqF16 "v_rsq_f16" F16 [F16];
    0x1d7 LogF16 "v_log_f16" F16 [F16];
    0x1d8 ExpF16 "v_exp_f16" F16 [F16];
    0x1d9 FrexpMantF16 "v_frexp_mant_f16" F16 [F16];
    0x1da FrexpExpI16F16 "v_frexp_exp_i16_f16" B16 [F16];
    0x1db FloorF16 "v_floor_f16" F16 [F16];
    0x1dc CeilF16 "v_ceil_f16" F16 [F16];
    0x1dd TruncF16 "v_trunc_f16" F16 [F16];
    0x1de RndneF16 "v_rndne_f16" F16 [F16];
    0x1df FractF16 "v_fract_f16" F16 [F16];
    0x1e0 SinF16 "v_sin_f16" F16 [F16];
    0x1e1 CosF16 "v_cos_f16" F16 [F16];
    0x1e2 SatPkU8I16 "v_sat_pk_u8_i16" B16 [B32];
    0x1e3 CvtNormI16F16 "v_cvt_norm_i16_f16" B16 [F16];
    0x1e4 CvtNormU16F16 "v_cvt_norm_u16_f16" B16 [F16];
    0x1e5 SwapB32 "v_swap_b32" B32 [B32];
    0x1e7 Permlane64B32 "v_permlane64_b32" B32 [B32];
    0x1e8 SwaprelB32 "v_swaprel_b32" B32 [B32];
    0x1e9 NotB16 "v_not_b16" B16 [B16];
    0x1ea CvtI32I16 "v_cvt_i32_i16" B32 [B16];
    0x1eb CvtU32U16 "v_cvt_u32_u16" B32 [B16];
    0x209 FmaDx9ZeroF32 "v_fma_dx9_zero_f32" F32 [F32 F32 F32];
    0x20a MadI32I24 "v_mad_i32_i24" B32 [B32 B32 B32];
    0x20b MadU32U24 "v_mad_u32_u24" B32 [B32 B32 B32];
    0x210 BfeU32 "v_bfe_u32" B32 [B32 B32 B32];
    0x211 BfeI32 "v_bfe_i32" B32 [B32 B32 B32];
    0x212 BfiB32 "v_bfi_b32" B32 [B32 B32 B32];
    0x213 FmaF32 "v_fma_f32" F32 [F32 F32 F32];
    0x214 FmaF64 "v_fma_f64" F64 [F64 F64 F64];
    0x215 LerpU8 "v_lerp_u8" B32 [B32 B32 B32];
    0x216 AlignbitB32 "v_alignbit_b32" B32 [B32 B32 B32];
    0x217 AlignbyteB32 "v_alignbyte_b32" B32 [B32 B32 B32];
    0x219 Min3F32 "v_min3_f32" F32 [F32 F32 F32];
    0x21a Min3I32 "v_min3_i32" B32 [B32 B32 B32];
    0x21b Min3U32 "v_min3_u32" B32 [B32 B32 B32];
    0x21c Max3F32 "v_max3_f32" F32 [F32 F32 F32];
    0x21d Max3I32 "v_max3_i32" B32 [B32 B32 B32];
    0x21e Max3U32 "v_max3_u32" B32 [B32 B32 B32];
    0x21f Med3F32 "v_med3_f32" F32 [F32 F32 F32];
    0x220 Med3I32 "v_med3_i32" B32 [B32 B32 B32];
    0x221 Med3U32 "v_med3_u32" B32 [B32 B32 B32];
    0x222 SadU8 "v_sad_u8" B32 [B32 B32 B32];
    0x223 SadHiU8 "v_sad_hi_u8" B32 [B32 B32 B32];
    0x224 SadU16 "v_sad_u16" B32 [B32 B32 B32];
    0x225 SadU32 "v_sad_u32" B32 [B32 B32 B32];
    0x226 CvtPkU8F32 "v_cvt_pk_u8_f32" B32 [F32 B32 B32];
    0x227 DivFixupF32 "v_div_fixup_f32" F32 [F32 F32 F32];
    0x228 DivFixupF64 "v_div_fixup_f64" F64 [F64 F64 F64];
    0x237 DivFmasF32 "v_div_fmas_f32" F32 [F32 F32 F32];
    0x238 DivFmasF64 "v_div_fmas_f64" F64 [F64 F64 F64];
    0x239 MsadU8 "v_msad_u8" B32 [B32 B32 B32];
    0x240 Xor3B32 "v_xor3_b32" B32 [B32 B32 B32];
    0x241 MadU16 "v_mad_u16" B16 [B16 B16 B16];
    0x244 PermB32 "v_perm_b32" B32 [B32 B32 B32];
    0x245 XadU32 "v_xad_u32" B32 [B32 B32 B32];
    0x246 LshlAddU32 "v_lshl_add_u32" B32 [B32 B32 B32];
    0x247 AddLshlU32 "v_add_lshl_u32" B32 [B32 B32 B32];
    0x248 FmaF16 "v_fma_f16" F16 [F16 F16 F16];
    0x249 Min3F16 "v_min3_f16" F16 [F16 F16 F16];
    0x24a Min3I16 "v_min3_i16" B16 [B16 B16 B16];
    0x24b Min3U16 "v_min3_u16" B16 [B16 B16 B16];
    0x24c Max3F16 "v_max3_f16" F16 [F16 F16 F16];
    0x24d Max3I16 "v_max3_i16" B16 [B16 B16 B16];
    0x24e Max3U16 "v_max3_u16" B16 [B16 B16 B16];
    0x24f Med3F16 "v_med3_f16" F16 [F16 F16 F16];
    0x250 Med3I16 "v_med3_i16" B16 [B16 B16 B16];
    0x251 Med3U16 "v_med3_u16" B16 [B16 B16 B16];
    0x253 MadI16 "v_mad_i16" B16 [B16 B16 B16];
    0x254 DivFixupF16 "v_div_fixup_f16" F16 [F16 F16 F16];
    0x255 Add3U32 "v_add3_u32" B32 [B32 B32 B32];
    0x256 LshlOrB32 "v_lshl_or_b32" B32 [B32 B32 B32];
    0x257 AndOrB32 "v_and_or_b32" B32 [B32 B32 B32];
    0x258 Or3B32 "v_or3_b32" B32 [B32 B32 B32];
    0x259 MadU32U16 "v_mad_u32_u16" B32 [B16 B16 B32];
    0x25a MadI32I16 "v_mad_i32_i16" B32 [B16 B16 B32];
    0x25b Permlane16B32 "v_permlane16_b32" B32 [B32 B32 B32];
    0x25c Permlanex16B32 "v_permlanex16_b32" B32 [B32 B32 B32];
    0x25d CndmaskB16 "v_cndmask_b16" B16 [B16 B16 Mask];
    0x25e MaxminF32 "v_maxmin_f32" F32 [F32 F32 F32];
    0x25f MinmaxF32 "v_minmax_f32" F32 [F32 F32 F32];
    0x260 MaxminF16 "v_maxmin_f16" F16 [F16 F16 F16];
    0x261 MinmaxF16 "v_minmax_f16" F16 [F16 F16 F16];
    0x262 MaxminU32 "v_maxmin_u32" B32 [B32 B32 B32];
    0x263 MinmaxU32 "v_minmax_u32" B32 [B32 B32 B32];
    0x264 MaxminI32 "v_maxmin_i32" B32 [B32 B32 B32];
    0x265 MinmaxI32 "v_minmax_i32" B32 [B32 B32 B32];
    0x266 Dot2F16F16 "v_dot2_f16_f16" F16 [PkF16 PkF16 F16];
    0x267 Dot2Bf16Bf16 "v_dot2_bf16_bf16" B16 [B32 B32 B16];
    0x2fc DivScaleF32 "v_div_scale_f32" F32 [F32 F32 F32];
    0x2fd DivScaleF64 "v_div_scale_f64" F64 [F64 F64 F64];
    0x2fe MadU64U32 "v_mad_u64_u32" B64 [B32 B32 B64];
    0x2ff MadI64I32 "v_mad_i64_i32" B64 [B32 B32 B64];
    0x300 AddCoU32 "v_add_co_u32" B32 [B32 B32];
    0x301 SubCoU32 "v_sub_co_u32" B32 [B32 B32];
    0x302 SubrevCoU32 "v_subrev_co_u32" B32 [B32 B32];
    0x303 AddNcU16 "v_add_nc_u16" B16 [B16 B16];
    0x304 SubNcU16 "v_sub_nc_u16" B16 [B16 B16];
    0x305 MulLoU16 "v_mul_lo_u16" B16 [B16 B16];
    0x306 CvtPkI16F32 "v_cvt_pk_i16_f32" B32 [F32 F32];
    0x307 CvtPkU16F32 "v_cvt_pk_u16_f32" B32 [F32 F32];
    0x309 MaxU16 "v_max_u16" B16 [B16 B16];
    0x30a MaxI16 "v_max_i16" B16 [B16 B16];
    0x30b MinU16 "v_min_u16" B16 [B16 B16];
    0x30c MinI16 "v_min_i16" B16 [B16 B16];
    0x30d AddNcI16 "v_add_nc_i16" B16 [B16 B16];
    0x30e SubNcI16 "v_sub_nc_i16" B16 [B16 B16];
    0x311 PackB32F16 "v_pack_b32_f16" B32 [F16 F16];
    0x312 CvtPkNormI16F16 "v_cvt_pk_norm_i16_f16" B32 [F16 F16];
    0x313 CvtPkNormU16F16 "v_cvt_pk_norm_u16_f16" B32 [F16 F16];
    0x31c LdexpF32 "v_ldexp_f32" F32 [F32 B32];
    0x31d BfmB32 "v_bfm_b32" B32 [B32 B32];
    0x31e BcntU32B32 "v_bcnt_u32_b32" B32 [B32 B32];
    0x31f MbcntLoU32B32 "v_mbcnt_lo_u32_b32" B32 [B32 B32];
    0x320 MbcntHiU32B32 "v_mbcnt_hi_u32_b32" B32 [B32 B32];
    0x321 CvtPkNormI16F32 "v_cvt_pk_norm_i16_f32" B32 [F32 F32];
    0x322 CvtPkNormU16F32 "v_cvt_pk_norm_u16_f32" B32 [F32 F32];
    0x323 CvtPkU16U32 "v_cvt_pk_u16_u32" B32 [B32 B32];
    0x324 CvtPkI16I32 "v_cvt_pk_i16_i32" B32 [B32 B32];
    0x325 SubNcI32 "v_sub_nc_i32" B32 [B32 B32];
    0x326 AddNcI32 "v_add_nc_i32" B32 [B32 B32];
    0x327 AddF64 "v_add_f64" F64 [F64 F64];
    0x328 MulF64 "v_mul_f64" F64 [F64 F64];
    0x329 MinF64 "v_min_f64" F64 [F64 F64];
    0x32a MaxF64 "v_max_f64" F64 [F64 F64];
    0x32b LdexpF64 "v_ldexp_f64" F64 [F64 B32];
    0x32c MulLoU32 "v_mul_lo_u32" B32 [B32 B32];
    0x32d MulHiU32 "v_mul_hi_u32" B32 [B32 B32];
    0x32e MulHiI32 "v_mul_hi_i32" B32 [B32 B32];
    0x32f TrigPreopF64 "v_trig_preop_f64" F64 [F64 B32];
    0x338 LshlrevB16 "v_lshlrev_b16" B16 [B16 B16];
    0x339 LshrrevB16 "v_lshrrev_b16" B16 [B16 B16];
    0x33a AshrrevI16 "v_ashrrev_i16" B16 [B16 B16];
    0x33c LshlrevB64 "v_lshlrev_b64" B64 [B32 B64];
    0x33d LshrrevB64 "v_lshrrev_b64" B64 [B32 B64];
    0x33e AshrrevI64 "v_ashrrev_i64" B64 [B32 B64];
    0x360 ReadlaneB32 "v_readlane_b32" Scalar [B32 B32];
    0x361 WritelaneB32 "v_writelane_b32" B32 [B32 B32];
    0x362 AndB16 "v_and_b16" B16 [B16 B16];
    0x363 OrB16 "v_or_b16" B16 [B16 B16];
    0x364 XorB16 "v_xor_b16" B16 [B16 B16];
}
