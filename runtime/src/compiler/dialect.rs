//! The dialect in which units for a device are generated.

use kiln_spec::{Backend, DeviceKey};

/// The architecture that the test library `tests/hip-host` reports. No AMD GPU has this name.
#[cfg(feature = "testing")]
pub(crate) const HOST_ARCH: &str = "kiln-host";

/// Whether an architecture is that of the test library; always false without the feature `testing`.
pub(crate) fn is_test_library(arch: &str) -> bool {
    #[cfg(feature = "testing")]
    return arch == HOST_ARCH;
    #[cfg(not(feature = "testing"))]
    {
        let _ = arch;
        false
    }
}

/// The backend in whose dialect the units for a device are generated, and whose symbols its entries have. It is the
/// device's own backend, except for the test library of the hip backend, which runs units of the cpu device.
pub fn dialect(key: &DeviceKey) -> Backend {
    match key.backend {
        Backend::Hip if is_test_library(&key.arch) => Backend::Cpu,
        own => own,
    }
}
