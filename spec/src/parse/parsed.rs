//! The result of parsing a kernel.

use super::declaration::{KernelAttr, KernelFn};
use crate::model::KernelSpec;

/// A kernel spec and its declaration as written.
#[derive(Clone, Debug)]
pub struct ParsedKernel {
    /// The spec.
    pub spec: KernelSpec,
    /// The attribute, with spans.
    pub attr: KernelAttr,
    /// The function, with spans, attributes and visibility.
    pub function: KernelFn,
}
