//! Remembers what earlier merges saw, to detect a store that was set back to an earlier state.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::CollectError;
use crate::canonical;
use crate::segment::Segment;

/// Version of the file format.
const SEEN_SCHEMA: u32 = 1;

/// For every journal, the highest sequence number that earlier merges saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    schema: u32,
    /// Sequence numbers by plan, then by journal.
    plans: BTreeMap<String, BTreeMap<String, u64>>,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen {
            schema: SEEN_SCHEMA,
            plans: BTreeMap::new(),
        }
    }
}

/// A journal of which the store has fewer records than an earlier merge saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollback {
    /// Identity of the journal, as 16 hexadecimal digits.
    pub journal: String,
    /// The highest sequence number that earlier merges saw.
    pub seen: u64,
    /// The highest sequence number in the store now; 0 if the store has no records of the journal.
    pub found: u64,
}

impl Seen {
    /// Reads the file that earlier merges wrote. If it does not exist, the result is empty.
    ///
    /// # Errors
    /// The file is unreadable or damaged.
    pub fn load(path: &Path) -> Result<Seen, CollectError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Seen::default()),
            Err(source) => return Err(io_error("read", path)(source)),
        };
        let form = |why: String| CollectError::SeenForm {
            path: path.into(),
            why,
        };
        let seen: Seen = serde_json::from_str(&text).map_err(|error| form(error.to_string()))?;
        if seen.schema != SEEN_SCHEMA {
            let found = seen.schema;
            return Err(form(format!(
                "it has schema {found}, but this version reads schema {SEEN_SCHEMA}"
            )));
        }
        Ok(seen)
    }

    /// Writes the file atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), CollectError> {
        let text = canonical::to_text(self).map_err(|source| CollectError::SeenForm {
            path: path.into(),
            why: source.to_string(),
        })?;
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
            file.write_all(text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(path).map_err(|error| error.error).map(drop)
        };
        write().map_err(io_error("write", path))
    }

    /// Compares the store's segments with earlier merges and returns the journals that have fewer records now. Then
    /// stores the higher of the two numbers, the earlier and the current one, for each journal.
    pub(super) fn update(&mut self, plan: &str, segments: &[Segment]) -> Vec<Rollback> {
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        for segment in segments {
            let last = found.entry(segment.header.journal.clone()).or_default();
            *last = segment.header.last.max(*last);
        }
        let seen = self.plans.entry(plan.into()).or_default();
        let mut rollbacks = Vec::new();
        for (journal, &seen) in seen.iter() {
            let found = found.get(journal).copied().unwrap_or_default();
            if found < seen {
                let journal = journal.clone();
                rollbacks.push(Rollback {
                    journal,
                    seen,
                    found,
                });
            }
        }
        for (journal, last) in found {
            let known = seen.entry(journal).or_default();
            *known = last.max(*known);
        }
        rollbacks
    }
}

fn io_error<'a>(what: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> CollectError + 'a {
    move |source| CollectError::Seen {
        what,
        path: path.into(),
        source,
    }
}
