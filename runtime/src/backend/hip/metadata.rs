//! Facts about a code object's kernels that launches are checked against.

use std::collections::BTreeMap;

use crate::image::amd_metadata::{self, AmdMetadataError};

/// Facts about a kernel that its launches are checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KernelFacts {
    /// Arguments that it declares, without those that the runtime adds.
    pub parameters: usize,
    /// Threads of a block at most, if that is stated.
    pub max_threads: Option<u32>,
}

/// The kernels of a code object, by symbol.
pub(super) type Kernels = BTreeMap<String, KernelFacts>;

/// Reads the metadata of a code object.
///
/// # Errors
/// When there is none, or it is damaged.
pub(super) fn kernels(image: &[u8]) -> Result<Kernels, AmdMetadataError> {
    let kernels = amd_metadata::kernels(image)?.into_iter();
    let facts = kernels.map(|kernel| {
        let facts = KernelFacts {
            parameters: kernel.parameters,
            max_threads: kernel.max_threads,
        };
        (kernel.name, facts)
    });
    Ok(facts.collect())
}
