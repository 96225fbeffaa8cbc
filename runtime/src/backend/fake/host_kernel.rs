//! Host code that the fake device runs instead of a kernel.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use kiln_spec::KernelSpec;

use crate::data::reference::ReferenceCall;
use crate::kernel::Kernel;

/// A kernel as the fake device runs it: its signature, and a host function for its outputs.
#[derive(Clone)]
pub struct HostKernel {
    /// The spec: argument types, accesses and lengths.
    pub spec: Arc<KernelSpec>,
    /// Computes the outputs.
    pub compute: Arc<dyn Fn(&mut ReferenceCall) + Send + Sync>,
}

impl fmt::Debug for HostKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "host kernel `{}`", self.spec.name)
    }
}

static PROVIDED: Mutex<BTreeMap<String, HostKernel>> = Mutex::new(BTreeMap::new());

/// Registers the host code for a symbol, or for every symbol of an entry without one of its own. Entries without host
/// code launch without computing anything.
pub fn provide(symbol_or_entry: &str, kernel: HostKernel) {
    let mut provided = PROVIDED.lock().unwrap_or_else(PoisonError::into_inner);
    provided.insert(symbol_or_entry.into(), kernel);
}

/// Registers a kernel's Rust reference for one of its release symbols, or for an entry.
///
/// Does nothing for a kernel without a Rust reference.
pub fn provide_kernel(symbol_or_entry: &str, kernel: &'static Kernel) {
    if let Some(reference) = kernel.reference() {
        let kernel = HostKernel {
            spec: Arc::new(kernel.spec().clone()),
            compute: Arc::new(reference),
        };
        provide(symbol_or_entry, kernel);
    }
}

/// The host code for a symbol or its entry.
pub(super) fn provided(symbol: &str, entry: &str) -> Option<HostKernel> {
    let provided = PROVIDED.lock().unwrap_or_else(PoisonError::into_inner);
    provided
        .get(symbol)
        .or_else(|| provided.get(entry))
        .cloned()
}
