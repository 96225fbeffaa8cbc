//! The encoding of stored values: `schema (2 bytes, little-endian) | crc32c (4 bytes) | JSON`.
//!
//! The checksum covers schema, key and JSON, so a value under a wrong key is detected too.

use std::collections::BTreeMap;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::change::Change;
use super::entry::StoreEntry;
use super::error::StoreError;

/// Version of the encoding. A database with a higher version is set aside.
pub const STORE_SCHEMA: u16 = 1;

/// Number of bytes before the JSON.
pub(super) const HEADER: usize = 6;

pub(super) fn checksum(schema: [u8; 2], key: &str, json: &[u8]) -> u32 {
    let crc = crc32c::crc32c(&schema);
    let crc = crc32c::crc32c_append(crc, &(key.len() as u64).to_le_bytes());
    crc32c::crc32c_append(crc32c::crc32c_append(crc, key.as_bytes()), json)
}

/// Encodes a value for a key.
pub(crate) fn encode<T: Serialize>(key: &str, value: &T) -> Result<Vec<u8>, StoreError> {
    let json = serde_json::to_vec(value).map_err(|error| StoreError::Failed {
        reason: format!("cannot encode {key}: {error}"),
    })?;
    let schema = STORE_SCHEMA.to_le_bytes();
    let crc = checksum(schema, key, &json).to_le_bytes();
    Ok([&schema[..], &crc, &json].concat())
}

/// Decodes the value of a key. It is an error if any bit differs from what was written.
pub(crate) fn decode<T: DeserializeOwned>(key: &str, bytes: &[u8]) -> Result<T, StoreError> {
    let damaged = |what: &str| StoreError::Damaged {
        what: format!("the value under {key:?} {what}"),
    };
    let ([a, b, c, d, e, f], json) = bytes
        .split_first_chunk::<HEADER>()
        .ok_or_else(|| damaged("is cut short"))?;
    let schema = [*a, *b];
    if checksum(schema, key, json) != u32::from_le_bytes([*c, *d, *e, *f]) {
        return Err(damaged("does not match its checksum"));
    }
    let schema = u16::from_le_bytes(schema);
    if schema > STORE_SCHEMA {
        return Err(StoreError::Newer {
            found: schema.to_string(),
            known: STORE_SCHEMA,
        });
    }
    serde_json::from_slice(json).map_err(|error| damaged(&format!("cannot be read: {error}")))
}

/// The hash of an entry, which is added to the root.
pub(crate) fn share(key: &str, bytes: &[u8]) -> u128 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(key.len() as u64).to_le_bytes());
    hasher.update(key.as_bytes()).update(bytes);
    let mut first = [0; 16];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    u128::from_le_bytes(first)
}

/// The changes by key: the bytes of the value, or `None` if the key is removed. If a key occurs several times, the last
/// change is used.
pub(crate) fn by_key(changes: &[Change]) -> Result<BTreeMap<String, Option<Vec<u8>>>, StoreError> {
    let mut by_key = BTreeMap::new();
    for change in changes {
        match change {
            Change::Put(entry) => {
                let key = entry.key();
                let bytes = encode(&key, entry.as_ref())?;
                by_key.insert(key, Some(bytes));
            }
            Change::Remove(key) => {
                by_key.insert(key.clone(), None);
            }
        }
    }
    Ok(by_key)
}

/// Decodes an entry, and checks that it is valid and belongs to this key.
pub(crate) fn decode_entry(key: &str, bytes: &[u8]) -> Result<StoreEntry, StoreError> {
    let entry: StoreEntry = decode(key, bytes)?;
    let damaged = |what: String| StoreError::Damaged { what };
    entry
        .check()
        .map_err(|error| damaged(format!("the value under {key:?}: {error}")))?;
    if entry.key() == key {
        return Ok(entry);
    }
    let belongs = entry.key();
    Err(damaged(format!(
        "the value under {key:?} belongs under {belongs:?}"
    )))
}
