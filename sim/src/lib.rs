#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod banks;
pub mod counters;
pub mod fault;
mod footprint;
mod fused;
pub mod gfx11;
mod grid;
mod halves;
pub mod image;
pub mod instruction;
mod lanes;
pub mod launch;
mod marks;
pub mod memory;
pub mod ptx;
mod source_line;
mod traffic;
mod undefined;
mod wide;

pub use counters::{Counters, Traffic};
pub use fault::{Fault, FaultKind, Place};
pub use grid::{Block, Program, Progress, run, run_blocks};
pub use image::{Image, ImageError, Kernel, KernelInfo, Parameter};
pub use instruction::{Class, InstructionInfo};
pub use launch::{Launch, Order};
pub use memory::{Memory, MemoryView, Region};
pub use source_line::SourceLine;
