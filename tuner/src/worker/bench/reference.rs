//! The plain-Rust references that are linked into this program.

use kiln::{Kernel, ReferenceFn};
use kiln_spec::KernelSpec;

/// The plain-Rust reference of a kernel, if this program has one of the same arguments.
pub fn reference_of(catalogue: &[&'static Kernel], spec: &KernelSpec) -> Option<ReferenceFn> {
    let same = |kernel: &&&Kernel| kernel.name() == spec.name && kernel.spec().args == spec.args;
    catalogue.iter().find(same)?.reference()
}
