//! Host functions that the fake device runs instead of kernels.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use kiln_spec::KernelSpec;

use crate::data::reference::ReferenceCall;
use crate::kernel::Kernel;

/// What the fake device needs to run a kernel: the kernel's spec, and a host function that computes its outputs.
#[derive(Clone)]
pub struct HostKernel {
    /// The spec, which contains the argument types, accesses and lengths.
    pub spec: Arc<KernelSpec>,
    /// The function that computes the outputs.
    pub compute: Arc<dyn Fn(&mut ReferenceCall) + Send + Sync>,
}

impl fmt::Debug for HostKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "host kernel `{}`", self.spec.name)
    }
}

static PROVIDED: Mutex<BTreeMap<String, HostKernel>> = Mutex::new(BTreeMap::new());

/// Registers the host function for a symbol, or for all symbols of an entry that have no host function themselves.
/// Entries without a host function launch without computing anything.
pub fn provide(symbol_or_entry: &str, kernel: HostKernel) {
    let mut provided = PROVIDED.lock().unwrap_or_else(PoisonError::into_inner);
    provided.insert(symbol_or_entry.into(), kernel);
}

/// Registers a kernel's Rust reference as the host function for one of its release symbols, or for an entry.
///
/// Does nothing if the kernel has no Rust reference.
pub fn provide_kernel(symbol_or_entry: &str, kernel: &'static Kernel) {
    if let Some(reference) = kernel.reference() {
        let kernel = HostKernel {
            spec: Arc::new(kernel.spec().clone()),
            compute: Arc::new(reference),
        };
        provide(symbol_or_entry, kernel);
    }
}

/// The host function for a symbol, or else for its entry; `None` if there is none.
pub(super) fn provided(symbol: &str, entry: &str) -> Option<HostKernel> {
    let provided = PROVIDED.lock().unwrap_or_else(PoisonError::into_inner);
    provided
        .get(symbol)
        .or_else(|| provided.get(entry))
        .cloned()
}
