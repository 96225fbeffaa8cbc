//! The observer of a measurement: fields that identify the machine and the device.

use std::collections::BTreeMap;

use kiln::device::DeviceInfo;
use kiln_cache::record::printable;

/// The `host` field of an observer: the name of the field and the name of this machine.
pub fn host() -> (String, String) {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy().into_owned();
    ("host".to_owned(), name)
}

/// The observer: fields that identify the machine and the individual device that measures.
pub fn observer(info: &DeviceInfo) -> BTreeMap<String, String> {
    let known = info.instance.clone().into_iter().chain([host()]);
    let known = known.filter(|(_, value)| !value.is_empty());
    known
        .map(|(name, value)| (name, printable(&value)))
        .collect()
}
