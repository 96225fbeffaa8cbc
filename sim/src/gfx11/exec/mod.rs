//! The effects of instructions.

mod compare;
mod convert;
mod dual;
mod float16;
mod float32;
mod float64;
mod float_parts;
mod integer16;
mod integer32;
mod integer64;
mod lane_access;
mod mixed;
mod packed;
mod packed_operands;
mod quotient;
mod scalar;
mod scalar_float;
mod vector;
mod wmma;

use super::isa::instruction::{Instruction, Vector};
use super::isa::vector::VectorOp;
use super::wave::Wave;

pub(super) use compare::compare;
pub(super) use dual::dual;
pub(super) use packed::packed;
pub(super) use scalar::{Jump, scalar};

/// The function that executes a vector instruction.
pub(super) type Handler = fn(&mut Wave, &Vector);

/// The function that executes a vector instruction, or `None` if the simulator does not implement the instruction.
pub(super) fn handler(instruction: &Instruction) -> Option<Handler> {
    let Instruction::Vector(one) = instruction else {
        return None;
    };
    let float = matches!(
        one.op.types().0,
        super::isa::operand::Type::F16 | super::isa::operand::Type::F32
    ) || one.op.types().0 == super::isa::operand::Type::F64;
    if one.mods.clamp && !float && !clamps(one.op) {
        return None;
    }
    let classes = [
        float32::handler,
        integer32::handler,
        convert::handler,
        lane_access::handler,
        float16::handler,
        integer16::handler,
        float64::handler,
        integer64::handler,
        quotient::handler,
        float_parts::handler,
    ];
    classes.into_iter().find_map(|class| class(one.op))
}

/// Whether the simulator implements the clamp modifier of an integer instruction.
fn clamps(op: VectorOp) -> bool {
    use VectorOp::*;
    matches!(
        op,
        AddNcU32
            | SubNcU32
            | SubrevNcU32
            | AddNcI32
            | SubNcI32
            | AddNcU16
            | SubNcU16
            | AddNcI16
            | SubNcI16
    )
}
