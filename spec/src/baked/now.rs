//! The current hashes of a kernel, against which rows are compared to find stale ones.

use super::Hashes;
use crate::codegen::Target;
use crate::device::Backend;
use crate::hash::{Hash, SourceHash};
use crate::model::KernelSpec;

impl Hashes {
    /// The current hashes of a kernel, for rows of a backend's devices.
    ///
    /// A kernel has no compiler flags of its own yet; the hash of none fills the field.
    pub fn now(spec: &KernelSpec, source: SourceHash, backend: Backend) -> Hashes {
        Hashes {
            spec: spec.hash(),
            source,
            prelude: Target::from(backend).prelude_hash(),
            flags: Hash::of("kiln kernel flags", b""),
        }
    }
}
