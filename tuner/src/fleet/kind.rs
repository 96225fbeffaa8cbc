//! Kinds of devices: the kinds that a plan requests, and the devices of this machine that match a kind.

use kiln::devices::name_of;
use kiln_fleet::Kind;
use kiln_spec::Backend;

use super::FleetError;
use crate::error::Failure;
use kiln_lab::machine::{self, Opened};

/// Parses a kind of device: `backend/arch/name`, or its first parts.
///
/// # Errors
/// If the first part is not a backend, or a part is empty.
pub fn parse(word: &str) -> Result<Kind, FleetError> {
    let wrong = |why: String| FleetError::Kind {
        kind: word.to_owned(),
        why,
    };
    if word.split('/').any(|part| part.trim().is_empty()) {
        return Err(wrong("a part of it is empty".into()));
    }
    backend(word).map_err(wrong)?;
    Ok(Kind {
        name: word.to_owned(),
        device: word.to_owned(),
    })
}

/// Parses the first part of a kind of device, which is the backend.
///
/// # Errors
/// If the first part of `kind` is not a backend.
pub fn backend(kind: &str) -> Result<Backend, String> {
    let word = kind.split('/').next().unwrap_or_default();
    let found = Backend::ALL
        .into_iter()
        .find(|backend| backend.to_string() == word);
    found.ok_or_else(|| {
        let known: Vec<String> = Backend::ALL.iter().map(ToString::to_string).collect();
        format!("`{word}` is not a backend ({})", known.join(", "))
    })
}

/// Opens the device for an element: the device with this name, or the first device of the element's kind.
///
/// # Errors
/// If the device does not open, if it is of another kind, or if this machine has no device of the kind.
pub fn open(element: u32, kind: &Kind, name: Option<&str>) -> Result<Opened, Failure> {
    if let Some(name) = name {
        let (name, device) = machine::open_device(Some(name))?;
        let found = device.info().key.to_string();
        if !kind.covers(&found) {
            return Err(Failure::Fleet(Box::new(FleetError::OtherKind {
                element,
                wanted: kind.name.clone(),
                device: name,
                found,
            })));
        }
        return Ok((name, device));
    }
    let devices = kiln::devices();
    let measured = devices.iter().filter(|device| !device.info().is_simulated);
    let found = measured
        .clone()
        .find(|device| kind.covers(&device.info().key.to_string()));
    if let Some(device) = found {
        return Ok(machine::open_device(Some(&name_of(&**device)))?);
    }
    let here: Vec<String> = measured
        .map(|device| device.info().key.to_string())
        .collect();
    Err(Failure::Fleet(Box::new(FleetError::NoSuchKind {
        element,
        wanted: kind.name.clone(),
        here: here.join(", "),
    })))
}
