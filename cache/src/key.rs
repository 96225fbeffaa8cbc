//! Tuning keys. A tuning key has everything that a measurement depends on, as named fields and as a hash of these
//! fields.
//!
//! Two keys match only if all their fields are equal. [`explain`] reports the fields that differ. A key does not
//! contain properties that distinguish devices of the same kind, such as a UUID. They are recorded with the run.

use std::collections::BTreeMap;

use kiln_spec::limits::DeviceLimit;
use kiln_spec::{DeviceKey, DeviceLimits, Hash, SourceHash, SpecHash, hash::Hasher};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Version of the key format. It is raised when a field changes its meaning.
pub const KEY_SCHEMA: u32 = 1;

/// Everything that a measurement depends on. A new dependency becomes a new field here, so the compiler reports every
/// place that creates keys.
#[derive(Clone, Copy, Debug)]
pub struct KeyParts<'a> {
    /// Name of the kernel.
    pub kernel: &'a str,
    /// Hash of the expanded source: the `.cu` file and everything that it includes.
    pub source: SourceHash,
    /// Hash of the device prelude.
    pub prelude: Hash,
    /// Hash of the kernel spec: search space, constraints, geometry, fills.
    pub spec: SpecHash,
    /// Version of `tune`, which includes the code generator.
    pub generator: &'a str,
    /// Hash of the headers outside Kiln that the source includes and the compiler finds; `None` if there are none.
    pub headers: Option<Hash>,
    /// Compiler flags, in order.
    pub flags: &'a [String],
    /// Name of the compiler.
    pub compiler: &'a str,
    /// Version and build of the compiler.
    pub compiler_version: &'a str,
    /// The device's backend, architecture and product name.
    pub device: &'a DeviceKey,
    /// Launch limits and sizes of the device.
    pub limits: &'a DeviceLimits,
    /// Version of the driver.
    pub driver: &'a str,
    /// Version of the runtime library.
    pub runtime: &'a str,
    /// Canonical text of the problem.
    pub problem: &'a str,
    /// Version of the measuring protocol.
    pub protocol: u32,
    /// The cache regime of the measurement, `cold` or `hot`.
    pub regime: &'a str,
    /// Canonical text of the tolerance.
    pub tolerance: &'a str,
    /// Number of host threads that run the kernel (1 on a GPU).
    pub threads: u32,
}

/// The identity of a measurement: its named fields, and their hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct TuningKey {
    hash: Hash,
    fields: BTreeMap<String, String>,
}

/// A key as it is stored. When a key is read, its hash is compared with its fields.
#[derive(Serialize, Deserialize)]
struct Stored {
    hash: Hash,
    fields: BTreeMap<String, String>,
}

impl From<TuningKey> for Stored {
    fn from(key: TuningKey) -> Stored {
        Stored {
            hash: key.hash,
            fields: key.fields,
        }
    }
}

/// The hash of a stored key differs from the hash of its fields.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the tuning key says that its hash is {stored}, but the hash of its fields is {computed}")]
struct WrongHash {
    /// The stored hash.
    stored: Hash,
    /// The hash of the stored fields.
    computed: Hash,
}

impl TryFrom<Stored> for TuningKey {
    type Error = WrongHash;

    fn try_from(stored: Stored) -> Result<TuningKey, WrongHash> {
        let key = TuningKey::of(stored.fields);
        if key.hash == stored.hash {
            return Ok(key);
        }
        Err(WrongHash {
            stored: stored.hash,
            computed: key.hash,
        })
    }
}

impl TuningKey {
    /// Builds the key of a measurement.
    pub fn build(parts: &KeyParts<'_>) -> TuningKey {
        let fixed = [
            ("schema", KEY_SCHEMA.to_string()),
            ("kernel", parts.kernel.into()),
            ("source", parts.source.to_string()),
            ("prelude", parts.prelude.to_string()),
            ("spec", parts.spec.to_string()),
            ("generator", parts.generator.into()),
            ("flags", quoted(parts.flags)),
            ("compiler", parts.compiler.into()),
            ("compiler_version", parts.compiler_version.into()),
            ("driver", parts.driver.into()),
            ("runtime", parts.runtime.into()),
            ("problem", parts.problem.into()),
            ("protocol", parts.protocol.to_string()),
            ("regime", parts.regime.into()),
            ("tolerance", parts.tolerance.into()),
            ("threads", parts.threads.to_string()),
        ];
        let fixed = fixed.map(|(name, value)| (name.to_string(), value));
        let headers = parts
            .headers
            .map(|hash| ("headers".to_string(), hash.to_string()));
        let fields = fixed.into_iter().chain(headers);
        TuningKey::of(fields.chain(device_fields(parts)).collect())
    }

    fn of(fields: BTreeMap<String, String>) -> TuningKey {
        let mut hasher = Hasher::new("kiln.tuning-key");
        for (name, value) in &fields {
            hasher.field(name.as_bytes()).field(value.as_bytes());
        }
        TuningKey {
            hash: hasher.finish(),
            fields,
        }
    }

    /// The hash of all fields.
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// The fields, by name.
    pub fn fields(&self) -> &BTreeMap<String, String> {
        &self.fields
    }

    /// The value of one field; empty if the key does not have this field.
    pub fn field(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", String::as_str)
    }

    /// Name of the kernel.
    pub fn kernel(&self) -> &str {
        self.field("kernel")
    }

    /// The distance between two keys of a kernel. The first number counts the differences in backend, architecture,
    /// device name and problem. The second number counts all fields that differ.
    pub fn distance(&self, wanted: &TuningKey) -> (usize, usize) {
        let identity = ["device.backend", "device.arch", "device.name", "problem"];
        let differs = |name: &&&str| self.field(name) != wanted.field(name);
        (
            identity.iter().filter(differs).count(),
            self.differences(wanted).len(),
        )
    }

    /// The fields in which two keys differ, sorted by name.
    pub fn differences(&self, wanted: &TuningKey) -> Vec<KeyDifference> {
        let names: std::collections::BTreeSet<_> =
            self.fields.keys().chain(wanted.fields.keys()).collect();
        let differ = |name: &&String| self.fields.get(*name) != wanted.fields.get(*name);
        let difference = |name: &String| KeyDifference {
            field: name.clone(),
            stored: self.fields.get(name).cloned(),
            wanted: wanted.fields.get(name).cloned(),
        };
        names.into_iter().filter(differ).map(difference).collect()
    }
}

/// The flags as one text. Different lists have different texts.
fn quoted(flags: &[String]) -> String {
    let quoted: Vec<String> = flags.iter().map(|flag| format!("{flag:?}")).collect();
    quoted.join(" ")
}

fn device_fields(parts: &KeyParts<'_>) -> Vec<(String, String)> {
    let device = parts.device;
    let mut fields = vec![
        ("device.backend".to_string(), device.backend.to_string()),
        ("device.arch".to_string(), device.arch.clone()),
        ("device.name".to_string(), device.name.clone()),
    ];
    // The exact size of the memory is left out, because it varies between devices of a kind and does not affect times.
    let limits = DeviceLimit::ALL.iter();
    // Most devices use one warp for a matrix product. For them this limit is left out, so that their keys did not
    // change when the limit was added.
    let is_left_out = |limit: DeviceLimit| match limit {
        DeviceLimit::MemoryBytes => true,
        DeviceLimit::WarpsPerProduct => limit.of(parts.limits) == 1,
        _ => false,
    };
    let limits = limits.filter(|limit| !is_left_out(**limit));
    fields.extend(limits.map(|limit| {
        let value = limit.of(parts.limits).to_string();
        (format!("device.{}", limit.name()), value)
    }));
    fields
}

/// One field in which two keys differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyDifference {
    /// Name of the field.
    pub field: String,
    /// The field's value in the stored key; `None` if the key does not have the field.
    pub stored: Option<String>,
    /// The field's value in the wanted key; `None` if the key does not have the field.
    pub wanted: Option<String>,
}

/// Why a key was not found: the nearest stored key, and the fields that differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// The nearest stored key of the same kernel.
    pub nearest: TuningKey,
    /// The fields that differ; empty if the wanted key itself is stored.
    pub differences: Vec<KeyDifference>,
}

/// Finds the stored key of the same kernel that is nearest to the wanted one; `None` if no key of the kernel is stored.
///
/// A key with another problem or device is always further away than a key with other tools. After an upgrade of a tool,
/// the result is therefore the old key of the same problem, not the key of a similar problem.
pub fn explain<'a>(
    stored: impl IntoIterator<Item = &'a TuningKey>,
    wanted: &TuningKey,
) -> Option<Explanation> {
    stored
        .into_iter()
        .filter(|key| key.kernel() == wanted.kernel())
        .map(|key| (key.distance(wanted), key))
        .min_by_key(|(distance, key)| (*distance, key.hash))
        .map(|(_, key)| Explanation {
            nearest: key.clone(),
            differences: key.differences(wanted),
        })
}

#[cfg(test)]
mod tests;
