//! Inputs that must agree with each other (the rows of a sparse matrix, links of a list, sorted keys): a plain-Rust
//! function makes them.
//!
//! `inputs = function` names it in the spec. It is called as `function(seed, ..)` with every argument of the kernel but
//! the outputs: numbers and structs by value, slices as `&mut [T]`, as `#[fill(..)]` filled them. The same seed must give
//! the same inputs, in every process.
//!
//! The function is compiled into the crate that declares the kernel, so only a program that this crate is linked into
//! can call it: the generated smoke test, and a `tune` of the crate's own.

use crate::data::inputs_call;
use crate::kernel::Kernel;

pub use crate::data::inputs_call::{InputsCall, InputsFn};

/// From here on, this thread makes the inputs of kernels with this declaration by the kernel's own function.
///
/// Code that makes data ([`crate::data::reference::make_data`], [`crate::rig::Rig`]) has only the declaration, which
/// names the function but does not contain it.
pub fn provide(kernel: &'static Kernel) {
    if let Some(function) = kernel.inputs() {
        inputs_call::provide(kernel.spec(), function);
    }
}
