//! Makes the journal and the store consistent: the store catches up, and the journal is repaired.

use std::path::PathBuf;

use crate::error::CacheError;
use crate::journal::{self, Journal, JournalError, JournalScan};
use crate::set_aside;
use crate::store::{Position, Store, state};
use crate::warning::Warning;

/// Applies the journal's new records to the store. If the store is on disk, also repairs the journal from the store.
pub(super) fn agree(
    journal: &mut Journal,
    survey: &JournalScan,
    store: &mut dyn Store,
    lasting: bool,
    warnings: &mut Vec<Warning>,
) -> Result<(), CacheError> {
    let known = catch_up(journal, survey, store, warnings)?;
    if lasting {
        mend(journal, survey, known, store, warnings)?;
    }
    Ok(())
}

/// Applies the journal's new records to the store. Returns the sequence number of the last record that the store had
/// before. If the store followed another journal or another history, clears it first and returns 0.
fn catch_up(
    journal: &Journal,
    survey: &JournalScan,
    store: &mut dyn Store,
    warnings: &mut Vec<Warning>,
) -> Result<u64, CacheError> {
    let before = store.totals();
    let known = known_sequence(journal, survey, before.position)?;
    if known.is_none() {
        store.clear()?;
    }
    let after = known.unwrap_or(0);
    let replayed = journal::read::<CacheError>(journal.path(), after, &mut |position, record| {
        Ok(state::apply(store, &record, position)?)
    })?;
    let (records, entries) = (replayed.records, store.totals().entries);
    if replayed.undecodable > 0 {
        let records = replayed.undecodable;
        warnings.push(Warning::Undecodable { records });
    }
    if known.is_none() && before.entries > 0 {
        warnings.push(Warning::StoreReplaced { entries });
    } else if records > 0 && before.position.is_some() {
        warnings.push(Warning::StoreBehind { records });
    }
    Ok(after)
}

/// The sequence number up to which the store has this journal's records. `None` if the store followed another journal,
/// or another history of this journal.
fn known_sequence(
    journal: &Journal,
    survey: &JournalScan,
    position: Option<Position>,
) -> Result<Option<u64>, CacheError> {
    let Some(position) = position else {
        return Ok(Some(0));
    };
    // If the journal has no undamaged record, its identity is unknown, so it cannot contradict the store.
    let same_journal = survey.journal.is_none_or(|id| id == position.journal);
    // A damaged or missing record does not contradict the store.
    let chain = journal::chain_at(journal.path(), position.sequence)?;
    let same_course = chain.is_none_or(|chain| chain == position.chain);
    Ok((same_journal && same_course).then_some(position.sequence))
}

/// Rewrites the journal from the store if a part of the journal is damaged or missing.
fn mend(
    journal: &mut Journal,
    survey: &JournalScan,
    known: u64,
    store: &mut dyn Store,
    warnings: &mut Vec<Warning>,
) -> Result<(), CacheError> {
    let cut_short = known > survey.last + survey.damaged_tail;
    let damaged = survey.damaged > 0 || !survey.missing.is_empty();
    if survey.torn_bytes > 0 && known <= survey.last {
        let bytes = survey.torn_bytes;
        warnings.push(Warning::TornRecord { bytes });
    }
    if !cut_short && !damaged {
        return Ok(());
    }
    let keep = damaged.then(|| kept_name(journal)).transpose()?;
    journal.rewrite(&state::records(store)?, keep.as_deref())?;
    store.apply(&[], journal.position())?;
    if cut_short {
        let (found, expected) = (survey.last, known);
        warnings.push(Warning::JournalCutShort { found, expected });
    }
    if let Some(kept_at) = keep {
        let lost = survey.lost_after(known);
        warnings.push(Warning::JournalDamaged {
            damaged: survey.damaged,
            restored: survey.lost_after(0).saturating_sub(lost),
            lost,
            kept_at,
        });
    }
    Ok(())
}

fn kept_name(journal: &Journal) -> Result<PathBuf, CacheError> {
    set_aside::next_name(journal.path(), "damaged").map_err(|source| {
        CacheError::Journal(JournalError::Append {
            path: journal.path().into(),
            source,
        })
    })
}
