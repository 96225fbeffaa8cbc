//! Reads the description of a machine's results: `manifest.json`, which `benches/gpu-day/recorder.py` writes.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::checked::{hash_of, read};

/// The file name of the manifest.
pub(super) const MANIFEST: &str = "manifest.json";

/// The file name of the records of all steps, one per line.
pub(super) const STEPS: &str = "results.jsonl";

/// The version of the manifest's layout.
const SCHEMA: u64 = 2;

/// The description of the results of one run.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Manifest {
    pub schema: u64,
    /// The version of Kiln that ran.
    pub kiln: String,
    pub commit: String,
    pub device: Device,
    /// The date on which the run began.
    pub date: String,
    pub quick: bool,
    pub versions: BTreeMap<String, Value>,
    /// For each call, whether it finished.
    pub calls: BTreeMap<String, String>,
    /// The hashes of the tables in the repository from which the folder was built.
    pub tables: BTreeMap<String, String>,
    /// The hashes of the tables with which the machine began: with rows of an earlier call, if they were carried there.
    pub started: BTreeMap<String, String>,
    pub files: BTreeMap<String, File>,
}

/// The requested device, and the identity that the device reports.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Device {
    pub name: String,
    pub key: String,
}

/// The hash and the length of a file in the results.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct File {
    pub sha256: String,
    pub bytes: u64,
}

impl Manifest {
    /// Reads the manifest in a folder of results. Checks that this version of Kiln wrote the results and that they
    /// contain the identity of the device.
    ///
    /// # Errors
    /// If the manifest cannot be read or is incomplete, or if the results come from another version.
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
                "gpu-day: the results are foreign: {what} is {theirs} there, but {ours} here\n\
                 help: import them with the Kiln that built the folder, or build the folder and measure again"
            )
        };
        // Check the schema first, because another schema has other fields.
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
                 help: gate.json in {} says why; results without a device are of no use",
                manifest.device.name,
                results.display()
            ));
        }
        Ok(manifest)
    }

    /// A manifest without files, for tests.
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
            calls: BTreeMap::new(),
            tables: BTreeMap::new(),
            started: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }

    /// Checks that every file exists and is unchanged since the manifest was written.
    ///
    /// # Errors
    /// If a file is missing or has changed.
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
                "gpu-day: {name} is damaged: its {what} is {there} in the manifest, but {here} in the file\n\
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
        // A step appends its line before the manifest is written again. If the run is interrupted in between, the file
        // has one line more than the manifest says; this line is ignored.
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
