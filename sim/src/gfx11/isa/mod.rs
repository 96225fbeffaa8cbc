//! The instruction set: decoding of instructions, and their properties.

pub(crate) mod compare;
pub(crate) mod decode;
mod decode_memory;
mod decode_scalar;
mod decode_vector;
mod display;
mod dpp;
pub(crate) mod instruction;
pub(crate) mod memory;
pub(crate) mod operand;
pub(crate) mod packed;
pub(crate) mod program_flow;
pub(crate) mod scalar;
pub(crate) mod vector;
mod words;
