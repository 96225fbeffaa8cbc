//! The dialect (CPU, CUDA or HIP) in which translation units for a device are generated.

use kiln_spec::{Backend, DeviceKey};

/// The architecture that the test library `tests/hip-host` reports. No AMD GPU has this name.
#[cfg(feature = "testing")]
pub(crate) const HOST_ARCH: &str = "kiln-host";

/// Whether an architecture belongs to the test library. Always false without the feature `testing`.
pub(crate) fn is_test_library(arch: &str) -> bool {
    #[cfg(feature = "testing")]
    return arch == HOST_ARCH;
    #[cfg(not(feature = "testing"))]
    {
        let _ = arch;
        false
    }
}

/// The backend whose dialect and symbols the translation units for a device use. This is the device's own backend,
/// with one exception: the test library of the hip backend runs translation units of the cpu device.
pub fn dialect(key: &DeviceKey) -> Backend {
    match key.backend {
        Backend::Hip if is_test_library(&key.arch) => Backend::Cpu,
        own => own,
    }
}
