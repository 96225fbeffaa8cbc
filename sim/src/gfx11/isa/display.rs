//! Formats instructions in assembler syntax, without the suffix of the encoding.

use std::fmt;

use super::instruction::{
    Compare, DualOp, Flat, Flow, Half, Instruction, Packed, Scalar, ScalarLoad, Segment, Share,
    Vector,
};
use super::memory::{Access, ShareKind};
use super::operand::{EXEC, M0, NULL, Src, Type, VCC};
use super::program_flow::FlowOp;
use super::vector::VectorOp;

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Instruction::Scalar(one) => scalar_line(one),
            Instruction::Flow(one) => flow(one),
            Instruction::ScalarLoad(one) => scalar_load(one),
            Instruction::Vector(one) => vector_line(one),
            Instruction::Compare(one) => compare(one),
            Instruction::Packed(one) => packed(one),
            Instruction::Dual(halves) => format!("{} :: {}", half(&halves[0]), half(&halves[1])),
            Instruction::Share(one) => share(one),
            Instruction::Flat(one) => flat(one),
            Instruction::Hint(name) => (*name).to_owned(),
            Instruction::Unknown(one) => format!("{} ({:#010x})", one.what, one.word),
        };
        f.write_str(&text)
    }
}

fn scalar_line(one: &Scalar) -> String {
    let (dst, types) = one.op.types();
    let mut operands = Vec::new();
    if dst != Type::Nothing {
        operands.push(scalar(one.dst, dst.registers()));
    }
    let sources = [one.a, one.b].into_iter().zip(types);
    let sources = sources.map(|(src, &ty)| operand(src, ty.registers()));
    // The syntax of these instructions contains the register only once.
    let once = usize::from(matches!(one.name, "s_addk_i32" | "s_mulk_i32"));
    operands.extend(sources.skip(once));
    line(one.name, &operands)
}

fn scalar_load(one: &ScalarLoad) -> String {
    let offset = match one.register {
        Some(register) if one.offset == 0 => scalar(register, 1),
        Some(register) => format!("{} offset:{:#x}", scalar(register, 1), one.offset),
        None => format!("{:#x}", one.offset),
    };
    let name = format!("s_load_b{}", u32::from(one.words) * 32);
    let operands = [scalar(one.dst, one.words), scalar(one.base, 2), offset];
    line(&name, &operands)
}

fn vector_line(one: &Vector) -> String {
    let (dst, types) = one.op.types();
    let mut operands = Vec::new();
    match dst {
        Type::Nothing => {}
        Type::Scalar => operands.push(scalar(one.dst, 1)),
        _ => operands.push(vector(one.dst, dst.registers())),
    }
    if has_scalar_result(one.op) {
        operands.push(scalar(one.sdst, 1));
    }
    let sources = one.src.iter().zip(types);
    operands.extend(sources.map(|(&src, ty)| operand(src, ty.registers())));
    line(one.op.name(), &operands)
}

fn compare(one: &Compare) -> String {
    let mut operands = Vec::new();
    if !one.op.to_exec {
        operands.push(scalar(one.sdst, 1));
    }
    let sources = one.src.iter().zip(one.op.types());
    operands.extend(sources.map(|(&src, ty)| operand(src, ty.registers())));
    line(one.op.name, &operands)
}

fn packed(one: &Packed) -> String {
    let (dst, shape) = one.op.shape();
    let mut operands = vec![vector(one.dst, dst)];
    let sources = one.src.iter().zip(shape);
    operands.extend(sources.map(|(&src, &(_, count))| operand(src, count)));
    line(one.op.name(), &operands)
}

fn line(name: &str, operands: &[String]) -> String {
    match operands.is_empty() {
        true => name.to_owned(),
        false => format!("{name} {}", operands.join(", ")),
    }
}

/// Whether the assembler syntax has a second, scalar result.
fn has_scalar_result(op: VectorOp) -> bool {
    use VectorOp::*;
    matches!(
        op,
        AddCoU32
            | SubCoU32
            | SubrevCoU32
            | AddCoCiU32
            | SubCoCiU32
            | SubrevCoCiU32
            | DivScaleF32
            | DivScaleF64
            | MadU64U32
            | MadI64I32
    )
}

fn vector(first: u8, count: u8) -> String {
    match count {
        0 | 1 => format!("v{first}"),
        _ => format!("v[{first}:{}]", u32::from(first) + u32::from(count) - 1),
    }
}

fn scalar(first: u8, count: u8) -> String {
    match (first, count) {
        (VCC, 1) => "vcc_lo".into(),
        (107, 1) => "vcc_hi".into(),
        (VCC, _) => "vcc".into(),
        (M0, _) => "m0".into(),
        (EXEC, 1) => "exec_lo".into(),
        (127, 1) => "exec_hi".into(),
        (EXEC, _) => "exec".into(),
        (NULL, _) => "null".into(),
        (108..=123, 1) => format!("ttmp{}", first - 108),
        (_, 0 | 1) => format!("s{first}"),
        _ => format!("s[{first}:{}]", u32::from(first) + u32::from(count) - 1),
    }
}

fn operand(src: Src, count: u8) -> String {
    match src {
        Src::Vector(first) => vector(first, count),
        Src::Scalar(first) => scalar(first, count),
        Src::Scc => "src_scc".into(),
        Src::Constant(value) => format!("{value:#x}"),
    }
}

fn flow(one: &Flow) -> String {
    let immediate = format!("{:#x}", one.immediate);
    let name = one.op.name();
    match one.op {
        FlowOp::Barrier | FlowOp::CodeEnd | FlowOp::Endpgm => name.to_owned(),
        FlowOp::WaitcntVscnt
        | FlowOp::WaitcntVmcnt
        | FlowOp::WaitcntExpcnt
        | FlowOp::WaitcntLgkmcnt => line(name, &[scalar(one.register, 1), immediate]),
        FlowOp::GetregB32 => line(name, &[scalar(one.register, 1), immediate]),
        FlowOp::SetregB32 => line(name, &[immediate, scalar(one.register, 1)]),
        _ => line(name, &[immediate]),
    }
}

fn half(one: &Half) -> String {
    let name = match one.op {
        DualOp::Fmac => "v_dual_fmac_f32",
        DualOp::Fmaak => "v_dual_fmaak_f32",
        DualOp::Fmamk => "v_dual_fmamk_f32",
        DualOp::Mul => "v_dual_mul_f32",
        DualOp::Add => "v_dual_add_f32",
        DualOp::Sub => "v_dual_sub_f32",
        DualOp::Subrev => "v_dual_subrev_f32",
        DualOp::MulDx9Zero => "v_dual_mul_dx9_zero_f32",
        DualOp::Mov => "v_dual_mov_b32",
        DualOp::Cndmask => "v_dual_cndmask_b32",
        DualOp::Max => "v_dual_max_f32",
        DualOp::Min => "v_dual_min_f32",
        DualOp::Dot2accF16 => "v_dual_dot2acc_f32_f16",
        DualOp::AddNc => "v_dual_add_nc_u32",
        DualOp::Lshlrev => "v_dual_lshlrev_b32",
        DualOp::And => "v_dual_and_b32",
    };
    let (dst, a, b) = (vector(one.dst, 1), operand(one.a, 1), vector(one.b, 1));
    match one.op {
        DualOp::Mov => line(name, &[dst, a]),
        DualOp::Fmaak => line(name, &[dst, a, b, format!("{:#x}", one.literal)]),
        DualOp::Fmamk => line(name, &[dst, a, format!("{:#x}", one.literal), b]),
        _ => line(name, &[dst, a, b]),
    }
}

/// The number of registers that `bytes` bytes occupy.
fn registers(bytes: u8) -> u8 {
    bytes.div_ceil(4)
}

fn share(one: &Share) -> String {
    let address = vector(one.address, 1);
    let data = |i: usize, bytes| vector(one.data[i], registers(bytes));
    let dst = |bytes| vector(one.dst, registers(bytes));
    let mut operands = match one.op.kind {
        ShareKind::One(Access::Load { bytes, .. }) => vec![dst(bytes), address],
        ShareKind::One(Access::Store { bytes, .. }) => vec![address, data(0, bytes)],
        ShareKind::One(Access::Atomic { bytes, op }) => match op.operands() {
            2 => vec![address, data(0, bytes), data(1, bytes)],
            _ => vec![address, data(0, bytes)],
        },
        ShareKind::Returning(Access::Atomic { bytes, op }) => match op.operands() {
            2 => vec![dst(bytes), address, data(0, bytes), data(1, bytes)],
            _ => vec![dst(bytes), address, data(0, bytes)],
        },
        ShareKind::Returning(_) => vec![],
        ShareKind::Two {
            load: true, bytes, ..
        } => vec![dst(2 * bytes), address],
        ShareKind::Two { bytes, .. } => vec![address, data(0, bytes), data(1, bytes)],
        ShareKind::Permute | ShareKind::BackwardPermute => vec![dst(4), address, data(0, 4)],
        ShareKind::Swizzle => vec![dst(4), address],
    };
    let last = operands.pop().unwrap_or_default();
    let [low, high] = one.offsets;
    let last = match one.op.kind {
        ShareKind::Two { .. } => match (low, high) {
            (0, 0) => last,
            _ => format!("{last} offset0:{low} offset1:{high}"),
        },
        _ => match u16::from_le_bytes([low, high]) {
            0 => last,
            offset => format!("{last} offset:{offset}"),
        },
    };
    operands.push(last);
    line(one.op.name, &operands)
}

fn flat(one: &Flat) -> String {
    let segment = match one.segment {
        Segment::Flat => "flat",
        Segment::Scratch => "scratch",
        Segment::Global => "global",
    };
    let wide =
        !(one.segment == Segment::Scratch || one.segment == Segment::Global && one.base.is_some());
    let address = one.address.map_or("off".into(), |register| {
        vector(register, 1 + u8::from(wide))
    });
    let mut operands = match one.op.access {
        Access::Load { bytes, .. } => vec![vector(one.dst, registers(bytes)), address],
        Access::Store { bytes, .. } => vec![address, vector(one.data, registers(bytes))],
        Access::Atomic { bytes, op } => {
            let data = vector(one.data, registers(bytes) * op.operands());
            match one.returns {
                true => vec![vector(one.dst, registers(bytes)), address, data],
                false => vec![address, data],
            }
        }
    };
    if one.segment != Segment::Flat {
        let count = if wide || one.segment == Segment::Scratch {
            1
        } else {
            2
        };
        operands.push(one.base.map_or("off".into(), |base| scalar(base, count)));
    }
    let text = line(&format!("{segment}_{}", one.op.name), &operands);
    let glc = if one.returns && matches!(one.op.access, Access::Atomic { .. }) {
        " glc"
    } else {
        ""
    };
    match one.offset {
        0 => format!("{text}{glc}"),
        offset => format!("{text} offset:{offset}{glc}"),
    }
}
