//! The file of `tune bench --save`: for each kernel and problem the kernel itself, complete enough to be built and run
//! again, and the saved times for information.
//!
//! One JSON document, gzipped where its name ends in `.gz`. Long texts stand once, under their own hash: translation units and
//! the headers of the prelude. A checksum over the whole finds damage before anything of it is compiled.

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
use crate::atomic_file;
use crate::error::Failure;
use kiln_measure::Surveyed;

/// The version that is written, and the newest that is read.
pub const VERSION: u32 = 1;

/// What the file calls itself.
const FORMAT: &str = "kiln saved kernels";

/// The largest file that is read, unpacked, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Saved kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Saved {
    /// The version of Kiln that wrote it.
    pub kiln: String,
    /// When, in seconds since 1970.
    pub unix_s: u64,
    /// Texts by their hash.
    pub texts: BTreeMap<String, String>,
    /// Preludes by their hash: names of headers, and the hashes of their texts.
    pub preludes: BTreeMap<String, Vec<(String, String)>>,
    /// What was saved on each device.
    pub sections: Vec<Section>,
}

/// What was saved on one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    /// The device.
    pub device: DeviceKey,
    /// Its compiler's name: flags mean something to a compiler of that name only.
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
    /// The number in its symbols, which its receipt reports; hexadecimal.
    pub symbol_hash: String,
    /// The number of its config, which its receipt reports; hexadecimal.
    pub config_hash: String,
    /// Whether the cpu device runs it as fibres.
    pub fibers: bool,
    /// What was measured when it was saved: for information, never compared with.
    pub recorded: Option<Recorded>,
}

/// Times of when a kernel was saved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recorded {
    /// One launch in the median process, in nanoseconds.
    pub median_ns: u64,
    /// The lower end of its 95 % interval; `None` where too few processes ran for one.
    pub low_ns: Option<u64>,
    /// The upper end.
    pub high_ns: Option<u64>,
}

impl Recorded {
    /// What a survey found.
    pub fn of(time: &Surveyed) -> Recorded {
        let ns = |ns: f64| ns.round() as u64;
        Recorded {
            median_ns: ns(time.median_ns),
            low_ns: time.interval_ns.map(|interval| ns(interval.low)),
            high_ns: time.interval_ns.map(|interval| ns(interval.high)),
        }
    }
}

/// The document as it lies on the disk.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    format: String,
    version: u32,
    checksum: String,
    saved: Saved,
}

/// What tells a document of any version.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u32,
}

impl Saved {
    /// Nothing saved yet.
    pub fn new(unix_s: u64) -> Saved {
        Saved {
            kiln: env!("CARGO_PKG_VERSION").into(),
            unix_s,
            texts: BTreeMap::new(),
            preludes: BTreeMap::new(),
            sections: Vec::new(),
        }
    }

    /// Keeps a text and returns its hash.
    pub fn keep_text(&mut self, text: &str) -> String {
        let hash = text_hash(text);
        self.texts
            .entry(hash.clone())
            .or_insert_with(|| text.to_owned());
        hash
    }

    /// Keeps a prelude and returns its hash.
    pub fn keep_prelude(&mut self, headers: &[(&str, &str)]) -> String {
        let hash = kiln_spec::prelude::prelude_hash(headers).to_string();
        let kept = headers
            .iter()
            .map(|(name, text)| ((*name).to_owned(), self.keep_text(text)));
        let kept: Vec<_> = kept.collect();
        self.preludes.entry(hash.clone()).or_insert(kept);
        hash
    }

    /// A kept text.
    ///
    /// # Errors
    /// When there is none of that hash.
    pub fn text(&self, hash: &str) -> Result<&str, NotHeld> {
        let text = self.texts.get(hash).map(String::as_str);
        text.ok_or_else(|| NotHeld::Text {
            hash: hash.to_owned(),
        })
    }

    /// The headers of a kept prelude.
    ///
    /// # Errors
    /// When it or one of its texts is not there.
    pub fn headers(&self, prelude: &str) -> Result<Vec<(String, String)>, NotHeld> {
        let headers = self.preludes.get(prelude);
        let headers = headers.ok_or_else(|| NotHeld::Prelude {
            hash: prelude.to_owned(),
        })?;
        let with_text =
            |(name, hash): &(String, String)| Ok((name.clone(), self.text(hash)?.to_owned()));
        headers.iter().map(with_text).collect()
    }

    /// Refuses a path that [`Self::write`] cannot write to, before anything is measured for it.
    ///
    /// # Errors
    /// When it is a folder, or lies in none.
    pub fn can_be_written(path: &Path) -> Result<(), Failure> {
        atomic_file::can_be_written(path).map_err(Failure::file("write", path))
    }

    /// Writes the file, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
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
    /// When it cannot be read, is none of these, of a newer version, or damaged.
    pub fn read(path: &Path) -> Result<Saved, Failure> {
        let bytes = fs::read(path).map_err(Failure::file("read", path))?;
        Saved::parse(&bytes).map_err(|error| Failure::Saved {
            path: path.to_owned(),
            error,
        })
    }

    /// Reads a file's bytes, packed or not.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(bytes: &[u8]) -> Result<Saved, SavedError> {
        let text = unpack(bytes)?;
        let header: Header = serde_json::from_str(&text).map_err(|error| {
            // What calls itself one was whole once.
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

    /// Of what the file says, however it is laid out.
    fn checksum(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        Hash::of("kiln saved kernels 1", text.as_bytes()).to_string()
    }
}

fn text_hash(text: &str) -> String {
    Hash::of("kiln saved text", text.as_bytes()).to_string()
}

/// What a file of this version holds, if nothing of it is damaged.
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

/// The text of a file, by its first bytes packed or not.
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
