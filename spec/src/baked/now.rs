//! Computes the current hashes of a kernel. A row with other hashes is stale.

use super::Hashes;
use crate::codegen::Target;
use crate::device::Backend;
use crate::hash::{Hash, SourceHash};
use crate::model::KernelSpec;

impl Hashes {
    /// The current hashes of a kernel, for rows of a backend's devices.
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
