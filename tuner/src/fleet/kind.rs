//! Kinds of devices: what a plan asks for, and what a machine has.

use kiln::devices::name_of;
use kiln_fleet::Kind;
use kiln_spec::Backend;

use super::FleetError;
use crate::error::Failure;
use kiln_lab::machine::{self, Opened};

/// The kind that a word of the command line names.
///
/// # Errors
/// If no backend has that name, or a part is empty.
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

/// The backend of a kind.
///
/// # Errors
/// If no backend has that name.
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

/// Opens the device of an element: the named one, or the first of its kind.
///
/// # Errors
/// If it does not open, or is of another kind.
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
