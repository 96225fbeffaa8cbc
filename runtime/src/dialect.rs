//! The dialect that the units of a device are generated in.

use kiln_spec::{Backend, DeviceKey};

/// The architecture of the test library `tests/hip-host`, as it reports it. No AMD GPU has this name.
pub(crate) const HOST_ARCH: &str = "kiln-host";

/// The backend whose dialect the units of a device are generated in, and whose symbols its entries have: its own,
/// but for the test library of the hip backend, which runs those of the cpu device.
pub fn dialect(key: &DeviceKey) -> Backend {
    match key.backend {
        Backend::Hip if key.arch == HOST_ARCH => Backend::Cpu,
        own => own,
    }
}
