//! Reads from a code object the properties of kernels against which launches are checked.

use std::collections::BTreeMap;

use crate::image::amd_metadata::{self, AmdMetadataError};

/// The properties of a kernel against which its launches are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KernelFacts {
    /// Number of declared arguments. Hidden arguments that the runtime adds are not included.
    pub parameters: usize,
    /// Maximum number of threads per block; `None` if the code object does not state it.
    pub max_threads: Option<u32>,
}

/// The kernels of a code object, by symbol.
pub(super) type Kernels = BTreeMap<String, KernelFacts>;

/// Reads the metadata of a code object.
///
/// # Errors
/// If the code object has no metadata, or if the metadata is damaged.
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
