//! Computes the current hashes of a kernel's inputs, which decide whether a row is stale.

use super::Hashes;
use crate::codegen::Target;
use crate::device::Backend;
use crate::hash::{Hash, SourceHash};
use crate::model::KernelSpec;

impl Hashes {
    /// Returns the current hashes of a kernel's inputs on devices of this backend. `source` is the hash of the current
    /// source.
    ///
    /// Kernels cannot declare compiler flags yet, so the field for flags is the hash of an empty text.
    pub fn now(spec: &KernelSpec, source: SourceHash, backend: Backend) -> Hashes {
        Hashes {
            spec: spec.hash(),
            source,
            prelude: Target::from(backend).prelude_hash(),
            flags: Hash::of("kiln kernel flags", b""),
        }
    }
}
