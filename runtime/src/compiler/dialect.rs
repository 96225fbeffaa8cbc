//! The dialect that the units of a device are generated in.

use kiln_spec::{Backend, DeviceKey};

/// The architecture of the test library `tests/hip-host`, as it reports it. No AMD GPU has this name.
#[cfg(feature = "testing")]
pub(crate) const HOST_ARCH: &str = "kiln-host";

/// Whether an architecture is that of the test library; without the feature `testing`, none is.
pub(crate) fn is_test_library(arch: &str) -> bool {
    #[cfg(feature = "testing")]
    return arch == HOST_ARCH;
    #[cfg(not(feature = "testing"))]
    {
        let _ = arch;
        false
    }
}

/// The backend whose dialect the units of a device are generated in, and whose symbols its entries have: its own,
/// but for the test library of the hip backend, which runs those of the cpu device.
pub fn dialect(key: &DeviceKey) -> Backend {
    match key.backend {
        Backend::Hip if is_test_library(&key.arch) => Backend::Cpu,
        own => own,
    }
}
