//! Describes the results of a machine: `manifest.json`, written by `benches/gpu-day/recorder.py`.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checked::{hash_of, read};

/// Its name.
pub(super) const MANIFEST: &str = "manifest.json";

/// The steps, one per line.
pub(super) const STEPS: &str = "results.jsonl";

/// The version of its layout.
const SCHEMA: u64 = 1;

/// The description of a day's results.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Manifest {
    pub schema: u64,
    /// The version of Kiln that measured.
    pub kiln: String,
    pub commit: String,
    pub device: Device,
    /// The day it began.
    pub date: String,
    pub quick: bool,
    pub versions: BTreeMap<String, Value>,
    /// The result of each part.
    pub parts: BTreeMap<String, String>,
    /// Hashes of the tables that were copied there.
    pub tables: BTreeMap<String, String>,
    pub files: BTreeMap<String, File>,
}

/// The requested device, and its own description.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Device {
    pub name: String,
    pub key: String,
}

/// A file of results.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct File {
    pub sha256: String,
    pub bytes: u64,
}

impl Manifest {
    /// Reads the manifest of a folder of results, and checks that it belongs to this version of Kiln and names its
    /// device.
    ///
    /// # Errors
    /// If something is missing or foreign.
    pub(super) fn read(results: &Path) -> Result<Manifest, String> {
        let path = results.join(MANIFEST);
        let bytes = read(&path).map_err(|error| {
            format!("{error}\nhelp: name the folder that run.sh wrote, `results/` without `--out`")
        })?;
        let malformed = |error: &dyn std::fmt::Display| {
            format!(
                "gpu-day: {} is not a manifest of results: {error}\nhelp: copy the results again from the machine",
                path.display()
            )
        };
        let value: Value = serde_json::from_slice(&bytes).map_err(|error| malformed(&error))?;
        let foreign = |what: &str, theirs: &str, ours: &str| {
            format!(
                "gpu-day: the results are foreign: {what} is {theirs} there and {ours} here\n\
                 help: import them with the Kiln that built the folder, or build the folder and measure again"
            )
        };
        // First of all, since another schema has other fields.
        if value["schema"] != SCHEMA {
            let theirs = value["schema"].to_string();
            return Err(foreign("the schema", &theirs, &SCHEMA.to_string()));
        }
        let manifest: Manifest =
            serde_json::from_value(value).map_err(|error| malformed(&error))?;
        let ours = env!("CARGO_PKG_VERSION");
        if manifest.kiln != ours {
            return Err(foreign("the version of Kiln", &manifest.kiln, ours));
        }
        if manifest.device.key.is_empty() {
            return Err(format!(
                "gpu-day: the results name no device: `tune devices` did not find {} there\n\
                 help: {} says why; results without a device are of no use",
                manifest.device.name,
                results.join("part1/devices.json").display()
            ));
        }
        Ok(manifest)
    }

    /// An empty manifest.
    #[cfg(test)]
    pub(super) fn for_tests() -> Manifest {
        Manifest {
            schema: SCHEMA,
            kiln: env!("CARGO_PKG_VERSION").into(),
            commit: "0".into(),
            device: Device {
                name: "cuda:0".into(),
                key: "cuda/sm_90/H100".into(),
            },
            date: "2026-01-01".into(),
            quick: false,
            versions: BTreeMap::new(),
            parts: BTreeMap::new(),
            tables: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }

    /// Checks that every file exists, and is unchanged since the manifest was written.
    ///
    /// # Errors
    /// The first that is not.
    pub(super) fn check_files(&self, results: &Path) -> Result<(), String> {
        for (name, file) in &self.files {
            file.check(results, name)?;
        }
        Ok(())
    }
}

impl File {
    fn check(&self, results: &Path, name: &str) -> Result<(), String> {
        let damaged = |what: &str, there: &str, here: &str| {
            format!(
                "gpu-day: {name} is damaged: its {what} is {there} in the manifest and {here} in the file\n\
                 help: copy the results again from the machine"
            )
        };
        let parts = Path::new(name).components();
        if !parts
            .into_iter()
            .all(|part| matches!(part, Component::Normal(_)))
        {
            return Err(format!(
                "gpu-day: the manifest names `{name}`, which is outside the results\nhelp: copy the results again from the machine"
            ));
        }
        let missing =
            |error| format!("{error}\nhelp: copy the results again from the machine, all of them");
        let mut bytes = read(&results.join(name)).map_err(missing)?;
        // Lines are added to the steps before the manifest is rewritten: a run may be interrupted in between.
        if name == STEPS && bytes.len() as u64 > self.bytes {
            bytes.truncate(usize::try_from(self.bytes).unwrap_or(usize::MAX));
        }
        if bytes.len() as u64 != self.bytes {
            let (there, here) = (self.bytes.to_string(), bytes.len().to_string());
            return Err(damaged("length in bytes", &there, &here));
        }
        let hash = hash_of(&bytes);
        if hash != self.sha256 {
            return Err(damaged("SHA-256", &self.sha256, &hash));
        }
        Ok(())
    }
}
