//! An interpreter of PTX, the text that NVRTC compiles kernels to. Numbers in doc comments are sections of the PTX ISA.

mod alu;
mod begin;
mod cells;
mod clusters;
mod code;
mod descriptor;
mod exact;
mod exec;
mod factors;
mod flight;
mod flow;
mod kernel;
mod lexer;
mod lower;
mod mma;
mod module;
mod notes;
mod number;
mod pack;
mod parser;
mod parser_body;
mod product;
mod proxy;
mod regs;
mod rounding;
mod shared;
mod sources;
mod space;
mod syntax;
mod types;
mod warp;
mod wgmma;

pub use exec::PtxBlock;
pub use kernel::{Entry, Kernel};
pub use module::{Loaded, Module};

use thiserror::Error;

/// Why a text is rejected: it is not valid PTX, or uses a name that it does not declare.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line} of the PTX: {message}")]
pub struct ParseError {
    /// The line in the text, from 1. 0 if the line is not known.
    pub line: u32,
    /// The mistake, as a sentence without a full stop.
    pub message: String,
}
