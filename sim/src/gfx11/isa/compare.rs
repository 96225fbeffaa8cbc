//! The vector comparisons of the instruction set.
//!
//! AMD, "RDNA3 Instruction Set Architecture", VOPC. The opcode encodes the type, the condition, and in bit 7 whether
//! the result is written to EXEC.

use super::operand::Type;

/// The kind of the compared values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    F16,
    F32,
    F64,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    ClassF16,
    ClassF32,
    ClassF64,
}

/// A comparison instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CompareOp {
    pub kind: Kind,
    /// The outcomes for which the result is true: bit 0 less, bit 1 equal, bit 2 greater, bit 3 unordered.
    pub accepts: u8,
    /// Whether the result is written to EXEC.
    pub to_exec: bool,
    pub name: &'static str,
}

impl CompareOp {
    /// The comparison with this opcode.
    pub fn of(code: u32) -> Option<CompareOp> {
        let to_exec = code & 0x80 != 0;
        let (kind, condition) = match code & 0x7f {
            low @ 0x00..=0x0f => (Kind::F16, low),
            low @ 0x10..=0x1f => (Kind::F32, low - 0x10),
            low @ 0x20..=0x2f => (Kind::F64, low - 0x20),
            low @ 0x31..=0x36 => (Kind::I16, 0x10 | (low - 0x30)),
            low @ 0x39..=0x3e => (Kind::U16, 0x10 | (low - 0x38)),
            low @ 0x40..=0x47 => (Kind::I32, 0x10 | (low - 0x40)),
            low @ 0x48..=0x4f => (Kind::U32, 0x10 | (low - 0x48)),
            low @ 0x50..=0x57 => (Kind::I64, 0x10 | (low - 0x50)),
            low @ 0x58..=0x5f => (Kind::U64, 0x10 | (low - 0x58)),
            0x7d => (Kind::ClassF16, 0x18),
            0x7e => (Kind::ClassF32, 0x18),
            0x7f => (Kind::ClassF64, 0x18),
            _ => return None,
        };
        let name = name(kind, condition, to_exec);
        Some(CompareOp {
            kind,
            accepts: accepts(condition),
            to_exec,
            name,
        })
    }

    /// The types of the two sources.
    pub fn types(self) -> [Type; 2] {
        match self.kind {
            Kind::F16 => [Type::F16; 2],
            Kind::F32 => [Type::F32; 2],
            Kind::F64 => [Type::F64; 2],
            Kind::I16 | Kind::U16 => [Type::B16; 2],
            Kind::I32 | Kind::U32 => [Type::B32; 2],
            Kind::I64 | Kind::U64 => [Type::B64; 2],
            Kind::ClassF16 => [Type::F16, Type::B16],
            Kind::ClassF32 => [Type::F32, Type::B32],
            Kind::ClassF64 => [Type::F64, Type::B32],
        }
    }
}

/// The outcomes for which a condition is true. Floats have 16 conditions (F, LT, EQ, LE, GT, LG, GE, O, U, NGE, NLG,
/// NGT, NLE, NEQ, NLT, T), integers have 8 (F, LT, EQ, LE, GT, NE, GE, T).
fn accepts(condition: u32) -> u8 {
    let low = (condition & 7) as u8;
    match condition {
        0x10..=0x17 => low,
        0..=7 => low,
        _ => 8 | low,
    }
}

macro_rules! names {
    ($prefix:literal, $condition:expr, $suffix:literal) => {
        match $condition {
            0 => concat!($prefix, "f_", $suffix),
            1 => concat!($prefix, "lt_", $suffix),
            2 => concat!($prefix, "eq_", $suffix),
            3 => concat!($prefix, "le_", $suffix),
            4 => concat!($prefix, "gt_", $suffix),
            5 => concat!($prefix, "lg_", $suffix),
            6 => concat!($prefix, "ge_", $suffix),
            7 => concat!($prefix, "o_", $suffix),
            8 => concat!($prefix, "u_", $suffix),
            9 => concat!($prefix, "nge_", $suffix),
            10 => concat!($prefix, "nlg_", $suffix),
            11 => concat!($prefix, "ngt_", $suffix),
            12 => concat!($prefix, "nle_", $suffix),
            13 => concat!($prefix, "neq_", $suffix),
            14 => concat!($prefix, "nlt_", $suffix),
            0x15 => concat!($prefix, "ne_", $suffix),
            0x10 => concat!($prefix, "f_", $suffix),
            0x11 => concat!($prefix, "lt_", $suffix),
            0x12 => concat!($prefix, "eq_", $suffix),
            0x13 => concat!($prefix, "le_", $suffix),
            0x14 => concat!($prefix, "gt_", $suffix),
            0x16 => concat!($prefix, "ge_", $suffix),
            0x18 => concat!($prefix, "class_", $suffix),
            _ => concat!($prefix, "t_", $suffix),
        }
    };
    ($condition:expr, $to_exec:expr, $suffix:literal) => {
        match $to_exec {
            true => names!("v_cmpx_", $condition, $suffix),
            false => names!("v_cmp_", $condition, $suffix),
        }
    };
}

fn name(kind: Kind, condition: u32, to_exec: bool) -> &'static str {
    match kind {
        Kind::F16 | Kind::ClassF16 => names!(condition, to_exec, "f16"),
        Kind::F32 | Kind::ClassF32 => names!(condition, to_exec, "f32"),
        Kind::F64 | Kind::ClassF64 => names!(condition, to_exec, "f64"),
        Kind::I16 => names!(condition, to_exec, "i16"),
        Kind::U16 => names!(condition, to_exec, "u16"),
        Kind::I32 => names!(condition, to_exec, "i32"),
        Kind::U32 => names!(condition, to_exec, "u32"),
        Kind::I64 => names!(condition, to_exec, "i64"),
        Kind::U64 => names!(condition, to_exec, "u64"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_gives_the_type_the_condition_and_the_destination() {
        let op = CompareOp::of(0x9d).unwrap();
        assert_eq!(
            (op.name, op.kind, op.to_exec),
            ("v_cmpx_neq_f32", Kind::F32, true)
        );
        assert_eq!(op.accepts, 0b1101);
        let op = CompareOp::of(0x4c).unwrap();
        assert_eq!((op.name, op.accepts), ("v_cmp_gt_u32", 0b100));
        assert_eq!(CompareOp::of(0x17).unwrap().accepts, 0b0111);
        assert_eq!(CompareOp::of(0x18).unwrap().accepts, 0b1000);
        assert_eq!(CompareOp::of(0x7e).unwrap().name, "v_cmp_class_f32");
        assert_eq!(CompareOp::of(0x30), None);
    }
}
