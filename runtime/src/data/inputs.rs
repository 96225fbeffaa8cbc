//! Inputs that a plain-Rust function generates, because they must be consistent with each other. Examples are the
//! rows of a sparse matrix, the links of a list, and sorted keys.
//!
//! `inputs = function` in the spec specifies the function. It is called as `function(seed, ..)` with all arguments of
//! the kernel except the outputs. Numbers and structs are passed by value. Slices are passed as `&mut [T]` and
//! contain the values that `#[fill(..)]` generated. The same seed must give the same inputs in every process.
//!
//! The function is compiled into the crate that declares the kernel, so only a program that links this crate can call
//! it. Such programs are the generated smoke test and the crate's own `tune`.

use crate::data::inputs_call;
use crate::kernel::Kernel;

pub use crate::data::inputs_call::{InputsCall, InputsFn};

/// Registers the function that generates the kernel's inputs. From then on, this thread calls it to generate the inputs
/// of kernels with this spec.
///
/// The registration is necessary because code that generates data ([`crate::data::reference::make_data`],
/// [`crate::rig::Rig`]) has only the spec, which contains the name of the function but not the function itself.
pub fn provide(kernel: &'static Kernel) {
    if let Some(function) = kernel.inputs() {
        inputs_call::provide(kernel.spec(), function);
    }
}
