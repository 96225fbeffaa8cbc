//! The result of parsing a kernel.

use super::declaration::{KernelAttr, KernelFn};
use crate::model::KernelSpec;

/// A kernel spec, together with its declaration as written.
#[derive(Clone, Debug)]
pub struct ParsedKernel {
    /// The spec of the kernel.
    pub spec: KernelSpec,
    /// The attribute as written, with spans.
    pub attr: KernelAttr,
    /// The function as written, with spans, attributes and visibility.
    pub function: KernelFn,
}
