//! An interpreter of gfx11 code objects (RDNA 3 and RDNA 3.5).

mod access;
mod arguments;
mod atomic;
mod begin;
mod block;
mod descriptor;
mod exec;
mod execute;
mod flow;
mod garbage;
mod isa;
mod kernel;
mod lane_data;
mod lds;
mod lds_notes;
mod lds_trace;
mod lines;
mod mentioned;
mod metadata;
mod msgpack;
mod object;
mod private;
mod share;
mod space;
mod trouble;
mod undefined;
mod wave;

pub use block::GfxBlock;
pub use kernel::{Kernel, KernelError, Loaded};
pub use metadata::{Argument, KernelMetadata};
pub use object::{CodeObject, CodeObjectError};
