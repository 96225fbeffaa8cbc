//! PTX: an interpreter of the text that NVRTC compiles kernels to. Numbers in doc comments are sections of the PTX ISA.

mod alu;
mod begin;
mod cells;
mod code;
mod exec;
mod factors;
mod flow;
mod kernel;
mod lexer;
mod lower;
mod mma;
mod notes;
mod number;
mod pack;
mod parser;
mod parser_body;
mod product;
mod regs;
mod rounding;
mod shared;
mod space;
mod syntax;
mod types;
mod warp;

pub use exec::PtxBlock;
pub use kernel::{Entry, Kernel, Loaded, Module};

use thiserror::Error;

/// A text that is not PTX, or that names what it does not declare.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line} of the PTX: {message}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong: a sentence without a full stop.
    pub message: String,
}
