//! The instructions of the scalar ALU.
//!
//! Opcodes follow AMD's "RDNA3 Instruction Set Architecture", chapter 16 ("Instructions", SOP2, SOP1, SOPC). Scalar
//! floats follow "RDNA3.5 Instruction Set Architecture". Here, the code of SOP1 opcode `n` is `0x100 + n`, and the code
//! of SOPC opcode `n` is `0x200 + n`. A SOPK instruction is decoded as the instruction that it abbreviates.

use super::operand::Type::{self, B32, B64, F16, F32, Nothing};

macro_rules! scalar_ops {
    ($($code:literal $op:ident $name:literal $dst:ident [$($src:ident)*];)*) => {
        /// The operation of a scalar ALU instruction.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum ScalarOp { $(#[doc = concat!("`", $name, "`.")] $op,)* }

        impl ScalarOp {
            /// The instruction with this code.
            pub fn of(code: u32) -> Option<ScalarOp> {
                Some(match code { $($code => ScalarOp::$op,)* _ => return None })
            }

            /// The mnemonic.
            pub fn name(self) -> &'static str {
                match self { $(ScalarOp::$op => $name,)* }
            }

            /// The type of the result, and the type of each source.
            pub fn types(self) -> (Type, &'static [Type]) {
                match self { $(ScalarOp::$op => ($dst, &[$($src),*]),)* }
            }
        }
    };
}

scalar_ops! {
    0x0 AddU32 "s_add_u32" B32 [B32 B32];
    0x1 SubU32 "s_sub_u32" B32 [B32 B32];
    0x2 AddI32 "s_add_i32" B32 [B32 B32];
    0x3 SubI32 "s_sub_i32" B32 [B32 B32];
    0x4 AddcU32 "s_addc_u32" B32 [B32 B32];
    0x5 SubbU32 "s_subb_u32" B32 [B32 B32];
    0x6 AbsdiffI32 "s_absdiff_i32" B32 [B32 B32];
    0x8 LshlB32 "s_lshl_b32" B32 [B32 B32];
    0x9 LshlB64 "s_lshl_b64" B64 [B64 B32];
    0xa LshrB32 "s_lshr_b32" B32 [B32 B32];
    0xb LshrB64 "s_lshr_b64" B64 [B64 B32];
    0xc AshrI32 "s_ashr_i32" B32 [B32 B32];
    0xd AshrI64 "s_ashr_i64" B64 [B64 B32];
    0xe Lshl1AddU32 "s_lshl1_add_u32" B32 [B32 B32];
    0xf Lshl2AddU32 "s_lshl2_add_u32" B32 [B32 B32];
    0x10 Lshl3AddU32 "s_lshl3_add_u32" B32 [B32 B32];
    0x11 Lshl4AddU32 "s_lshl4_add_u32" B32 [B32 B32];
    0x12 MinI32 "s_min_i32" B32 [B32 B32];
    0x13 MinU32 "s_min_u32" B32 [B32 B32];
    0x14 MaxI32 "s_max_i32" B32 [B32 B32];
    0x15 MaxU32 "s_max_u32" B32 [B32 B32];
    0x16 AndB32 "s_and_b32" B32 [B32 B32];
    0x17 AndB64 "s_and_b64" B64 [B64 B64];
    0x18 OrB32 "s_or_b32" B32 [B32 B32];
    0x19 OrB64 "s_or_b64" B64 [B64 B64];
    0x1a XorB32 "s_xor_b32" B32 [B32 B32];
    0x1b XorB64 "s_xor_b64" B64 [B64 B64];
    0x1c NandB32 "s_nand_b32" B32 [B32 B32];
    0x1d NandB64 "s_nand_b64" B64 [B64 B64];
    0x1e NorB32 "s_nor_b32" B32 [B32 B32];
    0x1f NorB64 "s_nor_b64" B64 [B64 B64];
    0x20 XnorB32 "s_xnor_b32" B32 [B32 B32];
    0x21 XnorB64 "s_xnor_b64" B64 [B64 B64];
    0x22 AndNot1B32 "s_and_not1_b32" B32 [B32 B32];
    0x23 AndNot1B64 "s_and_not1_b64" B64 [B64 B64];
    0x24 OrNot1B32 "s_or_not1_b32" B32 [B32 B32];
    0x25 OrNot1B64 "s_or_not1_b64" B64 [B64 B64];
    0x26 BfeU32 "s_bfe_u32" B32 [B32 B32];
    0x27 BfeI32 "s_bfe_i32" B32 [B32 B32];
    0x28 BfeU64 "s_bfe_u64" B64 [B64 B32];
    0x29 BfeI64 "s_bfe_i64" B64 [B64 B32];
    0x2a BfmB32 "s_bfm_b32" B32 [B32 B32];
    0x2b BfmB64 "s_bfm_b64" B64 [B32 B32];
    0x2c MulI32 "s_mul_i32" B32 [B32 B32];
    0x2d MulHiU32 "s_mul_hi_u32" B32 [B32 B32];
    0x2e MulHiI32 "s_mul_hi_i32" B32 [B32 B32];
    0x30 CselectB32 "s_cselect_b32" B32 [B32 B32];
    0x31 CselectB64 "s_cselect_b64" B64 [B64 B64];
    0x32 PackLlB32B16 "s_pack_ll_b32_b16" B32 [B32 B32];
    0x33 PackLhB32B16 "s_pack_lh_b32_b16" B32 [B32 B32];
    0x34 PackHhB32B16 "s_pack_hh_b32_b16" B32 [B32 B32];
    0x35 PackHlB32B16 "s_pack_hl_b32_b16" B32 [B32 B32];
    0x40 AddF32 "s_add_f32" F32 [F32 F32];
    0x41 SubF32 "s_sub_f32" F32 [F32 F32];
    0x42 MinF32 "s_min_f32" F32 [F32 F32];
    0x43 MaxF32 "s_max_f32" F32 [F32 F32];
    0x44 MulF32 "s_mul_f32" F32 [F32 F32];
    0x45 FmaakF32 "s_fmaak_f32" F32 [F32 F32 F32];
    0x46 FmamkF32 "s_fmamk_f32" F32 [F32 F32 F32];
    0x47 FmacF32 "s_fmac_f32" F32 [F32 F32];
    0x48 CvtPkRtzF16F32 "s_cvt_pk_rtz_f16_f32" B32 [F32 F32];
    0x49 AddF16 "s_add_f16" F16 [F16 F16];
    0x4a SubF16 "s_sub_f16" F16 [F16 F16];
    0x4b MinF16 "s_min_f16" F16 [F16 F16];
    0x4c MaxF16 "s_max_f16" F16 [F16 F16];
    0x4d MulF16 "s_mul_f16" F16 [F16 F16];
    0x4e FmacF16 "s_fmac_f16" F16 [F16 F16];
    0x100 MovB32 "s_mov_b32" B32 [B32];
    0x101 MovB64 "s_mov_b64" B64 [B64];
    0x102 CmovB32 "s_cmov_b32" B32 [B32];
    0x103 CmovB64 "s_cmov_b64" B64 [B64];
    0x104 BrevB32 "s_brev_b32" B32 [B32];
    0x105 BrevB64 "s_brev_b64" B64 [B64];
    0x108 CtzI32B32 "s_ctz_i32_b32" B32 [B32];
    0x109 CtzI32B64 "s_ctz_i32_b64" B32 [B64];
    0x10a ClzI32U32 "s_clz_i32_u32" B32 [B32];
    0x10b ClzI32U64 "s_clz_i32_u64" B32 [B64];
    0x10c ClsI32 "s_cls_i32" B32 [B32];
    0x10d ClsI32I64 "s_cls_i32_i64" B32 [B64];
    0x10e SextI32I8 "s_sext_i32_i8" B32 [B32];
    0x10f SextI32I16 "s_sext_i32_i16" B32 [B32];
    0x110 Bitset0B32 "s_bitset0_b32" B32 [B32];
    0x111 Bitset0B64 "s_bitset0_b64" B64 [B32];
    0x112 Bitset1B32 "s_bitset1_b32" B32 [B32];
    0x113 Bitset1B64 "s_bitset1_b64" B64 [B32];
    0x114 BitreplicateB64B32 "s_bitreplicate_b64_b32" B64 [B32];
    0x115 AbsI32 "s_abs_i32" B32 [B32];
    0x116 Bcnt0I32B32 "s_bcnt0_i32_b32" B32 [B32];
    0x117 Bcnt0I32B64 "s_bcnt0_i32_b64" B32 [B64];
    0x118 Bcnt1I32B32 "s_bcnt1_i32_b32" B32 [B32];
    0x119 Bcnt1I32B64 "s_bcnt1_i32_b64" B32 [B64];
    0x11a QuadmaskB32 "s_quadmask_b32" B32 [B32];
    0x11b QuadmaskB64 "s_quadmask_b64" B64 [B64];
    0x11c WqmB32 "s_wqm_b32" B32 [B32];
    0x11d WqmB64 "s_wqm_b64" B64 [B64];
    0x11e NotB32 "s_not_b32" B32 [B32];
    0x11f NotB64 "s_not_b64" B64 [B64];
    0x120 AndSaveexecB32 "s_and_saveexec_b32" B32 [B32];
    0x121 AndSaveexecB64 "s_and_saveexec_b64" B64 [B64];
    0x122 OrSaveexecB32 "s_or_saveexec_b32" B32 [B32];
    0x123 OrSaveexecB64 "s_or_saveexec_b64" B64 [B64];
    0x124 XorSaveexecB32 "s_xor_saveexec_b32" B32 [B32];
    0x125 XorSaveexecB64 "s_xor_saveexec_b64" B64 [B64];
    0x126 NandSaveexecB32 "s_nand_saveexec_b32" B32 [B32];
    0x127 NandSaveexecB64 "s_nand_saveexec_b64" B64 [B64];
    0x128 NorSaveexecB32 "s_nor_saveexec_b32" B32 [B32];
    0x129 NorSaveexecB64 "s_nor_saveexec_b64" B64 [B64];
    0x12a XnorSaveexecB32 "s_xnor_saveexec_b32" B32 [B32];
    0x12b XnorSaveexecB64 "s_xnor_saveexec_b64" B64 [B64];
    0x12c AndNot0SaveexecB32 "s_and_not0_saveexec_b32" B32 [B32];
    0x12d AndNot0SaveexecB64 "s_and_not0_saveexec_b64" B64 [B64];
    0x12e OrNot0SaveexecB32 "s_or_not0_saveexec_b32" B32 [B32];
    0x12f OrNot0SaveexecB64 "s_or_not0_saveexec_b64" B64 [B64];
    0x130 AndNot1SaveexecB32 "s_and_not1_saveexec_b32" B32 [B32];
    0x131 AndNot1SaveexecB64 "s_and_not1_saveexec_b64" B64 [B64];
    0x132 OrNot1SaveexecB32 "s_or_not1_saveexec_b32" B32 [B32];
    0x133 OrNot1SaveexecB64 "s_or_not1_saveexec_b64" B64 [B64];
    0x134 AndNot0WrexecB32 "s_and_not0_wrexec_b32" B32 [B32];
    0x135 AndNot0WrexecB64 "s_and_not0_wrexec_b64" B64 [B64];
    0x136 AndNot1WrexecB32 "s_and_not1_wrexec_b32" B32 [B32];
    0x137 AndNot1WrexecB64 "s_and_not1_wrexec_b64" B64 [B64];
    0x140 MovrelsB32 "s_movrels_b32" B32 [B32];
    0x141 MovrelsB64 "s_movrels_b64" B64 [B64];
    0x142 MovreldB32 "s_movreld_b32" B32 [B32];
    0x143 MovreldB64 "s_movreld_b64" B64 [B64];
    0x144 Movrelsd2B32 "s_movrelsd_2_b32" B32 [B32];
    0x147 GetpcB64 "s_getpc_b64" B64 [];
    0x148 SetpcB64 "s_setpc_b64" Nothing [B64];
    0x149 SwappcB64 "s_swappc_b64" B64 [B64];
    0x160 CeilF32 "s_ceil_f32" F32 [F32];
    0x161 FloorF32 "s_floor_f32" F32 [F32];
    0x162 TruncF32 "s_trunc_f32" F32 [F32];
    0x163 RndneF32 "s_rndne_f32" F32 [F32];
    0x164 CvtF32I32 "s_cvt_f32_i32" B32 [B32];
    0x165 CvtF32U32 "s_cvt_f32_u32" B32 [B32];
    0x166 CvtI32F32 "s_cvt_i32_f32" B32 [F32];
    0x167 CvtU32F32 "s_cvt_u32_f32" B32 [F32];
    0x168 CvtF16F32 "s_cvt_f16_f32" F16 [F32];
    0x169 CvtF32F16 "s_cvt_f32_f16" B32 [F16];
    0x16a CvtHiF32F16 "s_cvt_hi_f32_f16" B32 [B32];
    0x16b CeilF16 "s_ceil_f16" F16 [F16];
    0x16c FloorF16 "s_floor_f16" F16 [F16];
    0x16d TruncF16 "s_trunc_f16" F16 [F16];
    0x16e RndneF16 "s_rndne_f16" F16 [F16];
    0x200 CmpEqI32 "s_cmp_eq_i32" Nothing [B32 B32];
    0x201 CmpLgI32 "s_cmp_lg_i32" Nothing [B32 B32];
    0x202 CmpGtI32 "s_cmp_gt_i32" Nothing [B32 B32];
    0x203 CmpGeI32 "s_cmp_ge_i32" Nothing [B32 B32];
    0x204 CmpLtI32 "s_cmp_lt_i32" Nothing [B32 B32];
    0x205 CmpLeI32 "s_cmp_le_i32" Nothing [B32 B32];
    0x206 CmpEqU32 "s_cmp_eq_u32" Nothing [B32 B32];
    0x207 CmpLgU32 "s_cmp_lg_u32" Nothing [B32 B32];
    0x208 CmpGtU32 "s_cmp_gt_u32" Nothing [B32 B32];
    0x209 CmpGeU32 "s_cmp_ge_u32" Nothing [B32 B32];
    0x20a CmpLtU32 "s_cmp_lt_u32" Nothing [B32 B32];
    0x20b CmpLeU32 "s_cmp_le_u32" Nothing [B32 B32];
    0x20c Bitcmp0B32 "s_bitcmp0_b32" Nothing [B32 B32];
    0x20d Bitcmp1B32 "s_bitcmp1_b32" Nothing [B32 B32];
    0x20e Bitcmp0B64 "s_bitcmp0_b64" Nothing [B64 B32];
    0x20f Bitcmp1B64 "s_bitcmp1_b64" Nothing [B64 B32];
    0x210 CmpEqU64 "s_cmp_eq_u64" Nothing [B64 B64];
    0x211 CmpLgU64 "s_cmp_lg_u64" Nothing [B64 B64];
    0x241 CmpLtF32 "s_cmp_lt_f32" Nothing [F32 F32];
    0x242 CmpEqF32 "s_cmp_eq_f32" Nothing [F32 F32];
    0x243 CmpLeF32 "s_cmp_le_f32" Nothing [F32 F32];
    0x244 CmpGtF32 "s_cmp_gt_f32" Nothing [F32 F32];
    0x245 CmpLgF32 "s_cmp_lg_f32" Nothing [F32 F32];
    0x246 CmpGeF32 "s_cmp_ge_f32" Nothing [F32 F32];
    0x247 CmpOF32 "s_cmp_o_f32" Nothing [F32 F32];
    0x248 CmpUF32 "s_cmp_u_f32" Nothing [F32 F32];
    0x249 CmpNgeF32 "s_cmp_nge_f32" Nothing [F32 F32];
    0x24a CmpNlgF32 "s_cmp_nlg_f32" Nothing [F32 F32];
    0x24b CmpNgtF32 "s_cmp_ngt_f32" Nothing [F32 F32];
    0x24c CmpNleF32 "s_cmp_nle_f32" Nothing [F32 F32];
    0x24d CmpNeqF32 "s_cmp_neq_f32" Nothing [F32 F32];
    0x24e CmpNltF32 "s_cmp_nlt_f32" Nothing [F32 F32];
    0x251 CmpLtF16 "s_cmp_lt_f16" Nothing [F16 F16];
    0x252 CmpEqF16 "s_cmp_eq_f16" Nothing [F16 F16];
    0x253 CmpLeF16 "s_cmp_le_f16" Nothing [F16 F16];
    0x254 CmpGtF16 "s_cmp_gt_f16" Nothing [F16 F16];
    0x255 CmpLgF16 "s_cmp_lg_f16" Nothing [F16 F16];
    0x256 CmpGeF16 "s_cmp_ge_f16" Nothing [F16 F16];
    0x257 CmpOF16 "s_cmp_o_f16" Nothing [F16 F16];
    0x258 CmpUF16 "s_cmp_u_f16" Nothing [F16 F16];
    0x259 CmpNgeF16 "s_cmp_nge_f16" Nothing [F16 F16];
    0x25a CmpNlgF16 "s_cmp_nlg_f16" Nothing [F16 F16];
    0x25b CmpNgtF16 "s_cmp_ngt_f16" Nothing [F16 F16];
    0x25c CmpNleF16 "s_cmp_nle_f16" Nothing [F16 F16];
    0x25d CmpNeqF16 "s_cmp_neq_f16" Nothing [F16 F16];
    0x25e CmpNltF16 "s_cmp_nlt_f16" Nothing [F16 F16];
}
