//! The registers that an instruction on registers may read or write.

use super::isa::instruction::{DualOp, Flow, Half, Instruction, Packed, Scalar, Share, Vector};
use super::isa::operand::{EXEC, Src, VCC};
use super::isa::vector::VectorOp;

/// The number of the first scalar register. The numbers below are those of the vector registers.
pub(super) const SCALARS: usize = 256;
/// The number of the scalar condition code.
pub(super) const CONDITION: usize = SCALARS + 128;
/// The number of the register that contains the index of the next instruction.
pub(super) const NEXT: usize = CONDITION + 1;

/// Calls `note` with the number of each register that the instruction may read or write, and perhaps with others. Some
/// numbers occur several times.
pub(super) fn mentioned(instruction: &Instruction, m0: u32, note: &mut impl FnMut(usize)) {
    let note = &mut |register| note(register);
    match instruction {
        Instruction::Vector(one) => vector(one, m0, note),
        Instruction::Compare(one) => {
            scalars(one.sdst, 1, note);
            for (&source, ty) in one.src.iter().zip(one.op.types()) {
                source_of(source, ty.registers(), note);
            }
        }
        Instruction::Packed(one) => packed(one, note),
        Instruction::Dual(halves) => halves.iter().for_each(|one| half(one, note)),
        Instruction::Scalar(one) => scalar(one, m0, note),
        Instruction::Flow(one) => flow(one, note),
        Instruction::Share(one) => exchange(one, note),
        _ => {}
    }
}

fn vectors(first: u8, count: u8, note: &mut impl FnMut(usize)) {
    (0..count).for_each(|i| note(first.wrapping_add(i).into()));
}

fn scalars(first: u8, count: u8, note: &mut impl FnMut(usize)) {
    (0..count).for_each(|i| note(SCALARS + usize::from(first.wrapping_add(i) & 127)));
}

fn source_of(source: Src, registers: u8, note: &mut impl FnMut(usize)) {
    match source {
        Src::Vector(first) => vectors(first, registers, note),
        Src::Scalar(first) => scalars(first, registers, note),
        Src::Scc => note(CONDITION),
        Src::Constant(_) => {}
    }
}

fn vector(one: &Vector, m0: u32, note: &mut impl FnMut(usize)) {
    let (dst, types) = one.op.types();
    match one.op {
        VectorOp::ReadlaneB32 | VectorOp::ReadfirstlaneB32 => scalars(one.dst, 1, note),
        _ => vectors(one.dst, dst.registers().max(1), note),
    }
    for (&source, ty) in one.src.iter().zip(types) {
        source_of(source, ty.registers(), note);
    }
    // Carries, and the conditions of selects.
    scalars(VCC, 1, note);
    scalars(one.sdst, 1, note);
    let relative = |register: u8| register.wrapping_add(m0 as u8);
    match one.op {
        VectorOp::MovreldB32 | VectorOp::MovrelsB32 | VectorOp::MovrelsdB32 => {
            vectors(relative(one.dst), 1, note);
            if let Src::Vector(register) = one.src[0] {
                vectors(relative(register), 1, note);
            }
        }
        _ => {}
    }
}

fn packed(one: &Packed, note: &mut impl FnMut(usize)) {
    let (count, sources) = one.op.shape();
    vectors(one.dst, count, note);
    for (&source, &(_, registers)) in one.src.iter().zip(sources) {
        source_of(source, registers, note);
    }
}

fn half(one: &Half, note: &mut impl FnMut(usize)) {
    vectors(one.dst, 1, note);
    vectors(one.b, 1, note);
    source_of(one.a, 1, note);
    if one.op == DualOp::Cndmask {
        scalars(VCC, 1, note);
    }
}

fn scalar(one: &Scalar, m0: u32, note: &mut impl FnMut(usize)) {
    // A result or an operand has up to two registers.
    scalars(one.dst, 2, note);
    source_of(one.a, 2, note);
    source_of(one.b, 2, note);
    [CONDITION, NEXT].into_iter().for_each(&mut *note);
    scalars(EXEC, 1, note);
    if one.op.name().contains("movrel") {
        scalars(one.dst.wrapping_add(m0 as u8), 2, note);
        if let Src::Scalar(register) = one.a {
            scalars(register.wrapping_add(m0 as u8), 2, note);
        }
    }
}

fn flow(one: &Flow, note: &mut impl FnMut(usize)) {
    [CONDITION, NEXT].into_iter().for_each(&mut *note);
    scalars(VCC, 1, note);
    scalars(one.register, 1, note);
}

fn exchange(one: &Share, note: &mut impl FnMut(usize)) {
    for register in [one.address, one.data[0], one.dst] {
        vectors(register, 1, note);
    }
}
