//! The file of `tune bench --save`. For each kernel and problem, it contains everything that is needed to compile and
//! run the kernel again. The saved times are only for information.
//!
//! The file is one JSON document, which is gzipped if the file name ends in `.gz`. Long texts (source texts and the
//! headers of the prelude) are stored once, under their hash. A checksum of the content detects damage before anything
//! is compiled.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use kiln_spec::{DeviceKey, Hash, LaunchPlan};
use serde::{Deserialize, Serialize};

use super::saved_error::{Damage, NotHeld, OtherFile, SavedError};
use crate::error::Failure;
use kiln_measure::Surveyed;
use kiln_project::atomic_file;

/// The version of the file format. Files with another version are rejected with an error.
pub const VERSION: u32 = 1;

/// The value of the field `format`.
const FORMAT: &str = "kiln saved kernels";

/// Maximum size of a file that is read, in bytes after decompression.
const MAX_BYTES: u64 = 256 << 20;

/// The content of a file of saved kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    /// The version of Kiln that wrote the file.
    pub kiln: String,
    /// When the file was created, in seconds since 1970.
    pub unix_s: u64,
    /// Long texts, by their hash.
    pub texts: BTreeMap<String, String>,
    /// Preludes, by their hash. A prelude is a list of header names and the hashes of their texts.
    pub preludes: BTreeMap<String, Vec<(String, String)>>,
    /// The kernels, with one section per device.
    pub sections: Vec<Section>,
}

/// The saved kernels of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// The key of the device.
    pub device: DeviceKey,
    /// The name of the compiler. The flags are valid only for a compiler with this name.
    pub compiler: String,
    /// The version of the compiler, for information.
    pub compiler_version: String,
    /// The flags of the compiler.
    pub flags: Vec<String>,
    /// The hash of the prelude, which is a key of `preludes`.
    pub prelude: String,
    /// Cold or hot caches.
    pub regime: String,
    /// The saved kernels, one per kernel and problem.
    pub kernels: Vec<SavedKernel>,
}

/// A saved kernel for one problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedKernel {
    /// The package that declared the kernel.
    pub package: String,
    /// The name of the kernel.
    pub kernel: String,
    /// The problem, as text.
    pub problem: String,
    /// The whole declaration (spec), as JSON.
    pub spec: serde_json::Value,
    /// The hash of the kernel's expanded source.
    pub source: String,
    /// The name of the entry that is launched.
    pub entry: String,
    /// The config, as text.
    pub config: String,
    /// Whether the entry and config are the baseline.
    pub baseline: bool,
    /// The launch plan for the problem.
    pub plan: LaunchPlan,
    /// The hash of the source text (translation unit), which is a key of `texts`.
    pub unit: String,
    /// The hash of the symbol, as the kernel's receipt reports it; hexadecimal.
    pub symbol_hash: String,
    /// The hash of the config, as the kernel's receipt reports it; hexadecimal.
    pub config_hash: String,
    /// Whether the cpu device runs the kernel with fibres.
    pub fibers: bool,
    /// The times when the kernel was saved. They are for information and are never compared.
    pub recorded: Option<Recorded>,
}

/// The times of a kernel when it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// Time of one launch in the median process, in nanoseconds.
    pub median_ns: u64,
    /// The lower end of the 95 % interval of the time; `None` if too few processes ran.
    pub low_ns: Option<u64>,
    /// The upper end of that interval.
    pub high_ns: Option<u64>,
}

impl Recorded {
    /// Converts the times of a survey.
    pub fn of(time: &Surveyed) -> Recorded {
        let ns = |ns: f64| ns.round() as u64;
        Recorded {
            median_ns: ns(time.median_ns),
            low_ns: time.interval_ns.map(|interval| ns(interval.low)),
            high_ns: time.interval_ns.map(|interval| ns(interval.high)),
        }
    }
}

/// The document in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    checksum: String,
    saved: Saved,
}

/// The fields that documents of all versions have.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

impl Saved {
    /// Creates a file without kernels.
    pub fn new(unix_s: u64) -> Saved {
        Saved {
            kiln: env!("CARGO_PKG_VERSION").into(),
            unix_s,
            texts: BTreeMap::new(),
            preludes: BTreeMap::new(),
            sections: Vec::new(),
        }
    }

    /// Stores a text and returns its hash.
    pub fn keep_text(&mut self, text: &str) -> String {
        let hash = text_hash(text);
        self.texts
            .entry(hash.clone())
            .or_insert_with(|| text.to_owned());
        hash
    }

    /// Stores a prelude and returns its hash.
    pub fn keep_prelude(&mut self, headers: &[(&str, &str)]) -> String {
        let hash = kiln_spec::prelude::prelude_hash(headers).to_string();
        let kept = headers
            .iter()
            .map(|(name, text)| ((*name).to_owned(), self.keep_text(text)));
        let kept: Vec<_> = kept.collect();
        self.preludes.entry(hash.clone()).or_insert(kept);
        hash
    }

    /// The stored text with this hash.
    ///
    /// # Errors
    /// If the file does not contain the text.
    pub fn text(&self, hash: &str) -> Result<&str, NotHeld> {
        let text = self.texts.get(hash).map(String::as_str);
        text.ok_or_else(|| NotHeld::Text {
            hash: hash.to_owned(),
        })
    }

    /// The headers of a stored prelude, as names and texts.
    ///
    /// # Errors
    /// If the file does not contain the prelude or one of its texts.
    pub fn headers(&self, prelude: &str) -> Result<Vec<(String, String)>, NotHeld> {
        let headers = self.preludes.get(prelude);
        let headers = headers.ok_or_else(|| NotHeld::Prelude {
            hash: prelude.to_owned(),
        })?;
        let with_text =
            |(name, hash): &(String, String)| Ok((name.clone(), self.text(hash)?.to_owned()));
        headers.iter().map(with_text).collect()
    }

    /// Checks, before anything is measured, that [`Self::write`] can write to a path.
    ///
    /// # Errors
    /// If the path is a folder, or a file cannot be created there.
    pub fn can_be_written(path: &Path) -> Result<(), Failure> {
        atomic_file::can_be_written(path).map_err(Failure::file("write", path))
    }

    /// Writes the file atomically.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let document = Document {
            format: FORMAT.into(),
            version: VERSION,
            checksum: self.checksum(),
            saved: self.clone(),
        };
        let text =
            serde_json::to_string_pretty(&document).map_err(Failure::json("save kernels"))?;
        let failed = |error| Failure::file("write", path)(error);
        let bytes = if is_packed(path) {
            pack(&text).map_err(failed)?
        } else {
            (text + "\n").into_bytes()
        };
        atomic_file::write(path, &bytes).map_err(failed)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If the file cannot be read, is not a file of saved kernels, has another version, or is damaged.
    pub fn read(path: &Path) -> Result<Saved, Failure> {
        let bytes = fs::read(path).map_err(Failure::file("read", path))?;
        Saved::parse(&bytes).map_err(|error| Failure::Saved {
            path: path.to_owned(),
            error,
        })
    }

    /// Reads a file from its bytes, which may be gzipped.
    ///
    /// # Errors
    /// The errors of [`Self::read`].
    pub fn parse(bytes: &[u8]) -> Result<Saved, SavedError> {
        let text = unpack(bytes)?;
        let header: Header = serde_json::from_str(&text).map_err(|error| {
            // If the text contains the name of the format, it was probably a valid file, so it is reported as damaged
            // and not as a file of another kind.
            match text.contains(FORMAT) {
                true => SavedError::Damaged(error.into()),
                false => SavedError::Other(OtherFile::Json(error)),
            }
        })?;
        if header.format != FORMAT {
            let format = header.format;
            return Err(SavedError::Other(OtherFile::Format { format }));
        }
        if header.version != VERSION {
            let version = header.version;
            return Err(SavedError::Version {
                version,
                reads: VERSION,
            });
        }
        Ok(whole(&text)?)
    }

    /// The checksum of the content. It does not depend on the layout of the JSON text.
    fn checksum(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        Hash::of("kiln saved kernels 1", text.as_bytes()).to_string()
    }
}

fn text_hash(text: &str) -> String {
    Hash::of("kiln saved text", text.as_bytes()).to_string()
}

/// Parses a file of this version, and checks its checksum and the hashes of its texts.
fn whole(text: &str) -> Result<Saved, Damage> {
    let document: Document = serde_json::from_str(text)?;
    let found = document.saved.checksum();
    if found != document.checksum {
        return Err(Damage::Checksum {
            found,
            written: document.checksum,
        });
    }
    let mut texts = document.saved.texts.iter();
    match texts.find(|(hash, text)| **hash != text_hash(text)) {
        Some((hash, _)) => Err(Damage::Text { hash: hash.clone() }),
        None => Ok(document.saved),
    }
}

fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

fn pack(text: &str) -> std::io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(text.as_bytes())?;
    packer.finish()
}

/// The text of a file. Its first bytes show whether it is gzipped.
fn unpack(bytes: &[u8]) -> Result<String, SavedError> {
    let mut text = String::new();
    let read = if bytes.starts_with(&[0x1f, 0x8b]) {
        GzDecoder::new(bytes)
            .take(MAX_BYTES + 1)
            .read_to_string(&mut text)
    } else {
        bytes.take(MAX_BYTES + 1).read_to_string(&mut text)
    };
    read.map_err(Damage::from)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(SavedError::TooLarge {
            max_bytes: MAX_BYTES,
        });
    }
    Ok(text)
}

#[cfg(test)]
#[path = "saved_tests.rs"]
mod tests;
