//! What rows are compared with to see whether they are stale.

use super::Hashes;
use crate::codegen::Target;
use crate::device::Backend;
use crate::hash::{Hash, SourceHash};
use crate::model::KernelSpec;

impl Hashes {
    /// The hashes of a kernel as it is now, for rows of a backend's devices.
    ///
    /// A kernel asks for no compiler flags of its own yet; the hash of none keeps the field's place.
    pub fn now(spec: &KernelSpec, source: SourceHash, backend: Backend) -> Hashes {
        Hashes {
            spec: spec.hash(),
            source,
            prelude: Target::from(backend).prelude_hash(),
            flags: Hash::of("kiln kernel flags", b""),
        }
    }
}
