//! The file of `tune bench --save`. For each kernel and problem it contains the kernel itself, complete enough to be
//! built and run again, and the saved times for information.
//!
//! One JSON document, gzipped if its name ends in `.gz`. Long texts (translation units and the headers of the
//! prelude) are stored once, under their hash. A checksum of the whole detects damage before anything is compiled.

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
use kiln_lab::atomic_file;
use kiln_measure::Surveyed;

/// The version that is written, and the newest one that can be read.
pub const VERSION: u32 = 1;

/// The value of the file's format field.
const FORMAT: &str = "kiln saved kernels";

/// Maximum size of a file that is read, unpacked, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Saved kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    /// The version of Kiln that wrote it.
    pub kiln: String,
    /// When it was written, in seconds since 1970.
    pub unix_s: u64,
    /// Texts by their hash.
    pub texts: BTreeMap<String, String>,
    /// Preludes by hash: names of headers, and the hashes of their texts.
    pub preludes: BTreeMap<String, Vec<(String, String)>>,
    /// The kernels, by device.
    pub sections: Vec<Section>,
}

/// The kernels of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// The device.
    pub device: DeviceKey,
    /// Its compiler's name: flags are valid only for a compiler with that name.
    pub compiler: String,
    /// The compiler's version, for information.
    pub compiler_version: String,
    /// The compiler's flags.
    pub flags: Vec<String>,
    /// The hash of the prelude.
    pub prelude: String,
    /// Cold or hot.
    pub regime: String,
    /// The kernels.
    pub kernels: Vec<SavedKernel>,
}

/// One kernel for one problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedKernel {
    /// The package that declared it.
    pub package: String,
    /// Its name.
    pub kernel: String,
    /// The problem.
    pub problem: String,
    /// The whole declaration.
    pub spec: serde_json::Value,
    /// The hash of its expanded source.
    pub source: String,
    /// The entry.
    pub entry: String,
    /// The config.
    pub config: String,
    /// Whether it is the baseline.
    pub baseline: bool,
    /// The launch plan.
    pub plan: LaunchPlan,
    /// The hash of its translation unit's text.
    pub unit: String,
    /// The symbol's hash, which its receipt reports; hexadecimal.
    pub symbol_hash: String,
    /// The config's hash, which its receipt reports; hexadecimal.
    pub config_hash: String,
    /// Whether the cpu device runs it as fibres.
    pub fibers: bool,
    /// The times when it was saved: for information, never compared.
    pub recorded: Option<Recorded>,
}

/// Times from when a kernel was saved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// Time of one launch in the median process, in nanoseconds.
    pub median_ns: u64,
    /// The lower end of its 95 % interval; `None` if too few processes ran.
    pub low_ns: Option<u64>,
    /// The upper end of the interval.
    pub high_ns: Option<u64>,
}

impl Recorded {
    /// The times of a survey.
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

/// The part that documents of all versions have in common.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

impl Saved {
    /// An empty file.
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

    /// A stored text.
    ///
    /// # Errors
    /// If there is none with that hash.
    pub fn text(&self, hash: &str) -> Result<&str, NotHeld> {
        let text = self.texts.get(hash).map(String::as_str);
        text.ok_or_else(|| NotHeld::Text {
            hash: hash.to_owned(),
        })
    }

    /// The headers of a stored prelude.
    ///
    /// # Errors
    /// If it or one of its texts is missing.
    pub fn headers(&self, prelude: &str) -> Result<Vec<(String, String)>, NotHeld> {
        let headers = self.preludes.get(prelude);
        let headers = headers.ok_or_else(|| NotHeld::Prelude {
            hash: prelude.to_owned(),
        })?;
        let with_text =
            |(name, hash): &(String, String)| Ok((name.clone(), self.text(hash)?.to_owned()));
        headers.iter().map(with_text).collect()
    }

    /// Refuses a path that [`Self::write`] cannot write to, before anything is measured.
    ///
    /// # Errors
    /// If it is a folder, or its folder does not exist.
    pub fn can_be_written(path: &Path) -> Result<(), Failure> {
        atomic_file::can_be_written(path).map_err(Failure::file("write", path))
    }

    /// Writes the file atomically.
    ///
    /// # Errors
    /// If it cannot be written.
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
    /// If it cannot be read, is not such a file, has a newer version, or is damaged.
    pub fn read(path: &Path) -> Result<Saved, Failure> {
        let bytes = fs::read(path).map_err(Failure::file("read", path))?;
        Saved::parse(&bytes).map_err(|error| Failure::Saved {
            path: path.to_owned(),
            error,
        })
    }

    /// Reads a file from its bytes, packed or not.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn parse(bytes: &[u8]) -> Result<Saved, SavedError> {
        let text = unpack(bytes)?;
        let header: Header = serde_json::from_str(&text).map_err(|error| {
            // A file that contains the format name was once valid, so it is damaged.
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

    /// The checksum of the content, independent of its layout.
    fn checksum(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        Hash::of("kiln saved kernels 1", text.as_bytes()).to_string()
    }
}

fn text_hash(text: &str) -> String {
    Hash::of("kiln saved text", text.as_bytes()).to_string()
}

/// Parses a file of this version and checks that nothing is damaged.
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

/// The text of a file; its first bytes say whether it is packed.
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
