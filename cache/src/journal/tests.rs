use std::fs;

use super::*;
use crate::samples::{key, trial};

fn records(from: u64, count: u64) -> Vec<Record> {
    let key = key(1);
    (from..from + count)
        .map(|n| Record::End(trial(&key, n)))
        .collect()
}

fn read_back(path: &Path) -> Vec<Record> {
    let mut found = Vec::new();
    read::<JournalError>(path, 0, &mut |_, record| {
        found.push(record);
        Ok(())
    })
    .unwrap();
    found
}

fn with_records(count: u64) -> (tempfile::TempDir, PathBuf, Journal) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let (mut journal, _) = Journal::open(&path).unwrap();
    journal.append(&records(0, count)).unwrap();
    (folder, path, journal)
}

#[test]
fn what_is_appended_is_read_back_in_order_across_openings() {
    let (_folder, path, journal) = with_records(20);
    let id = journal.id();
    drop(journal);
    let (mut journal, survey) = Journal::open(&path).unwrap();
    assert_eq!((journal.id(), journal.last(), survey.damaged), (id, 20, 0));
    journal.append(&records(20, 20)).unwrap();
    assert_eq!(read_back(&path), records(0, 40));
    let (_, survey) = Journal::open(&path).unwrap();
    assert_eq!((survey.damaged, survey.lost_after(0)), (0, 0));
}

#[test]
fn a_half_written_last_record_is_cut_off_and_the_next_follows() {
    let (_folder, path, journal) = with_records(3);
    drop(journal);
    let length = fs::metadata(&path).unwrap().len();
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .unwrap()
        .set_len(length - 5)
        .unwrap();
    let (mut journal, survey) = Journal::open(&path).unwrap();
    assert!(survey.torn_bytes > 0);
    assert_eq!(journal.last(), 2);
    journal.append(&records(2, 1)).unwrap();
    assert_eq!(read_back(&path), records(0, 3));
    assert_eq!(Journal::open(&path).unwrap().1.damaged, 0);
}

#[test]
fn a_newer_journal_is_refused_with_both_versions_and_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let frame = Frame {
        version: RECORD_SCHEMA + 4,
        journal: 7,
        sequence: 1,
        chain: frame::first_chain(),
        payload: "{}",
    };
    let mut bytes = frame.encode();
    // The file ends with half a record. `open` would remove this half if the journal were of this program's version.
    bytes.extend([frame::START, b'x']);
    fs::write(&path, &bytes).unwrap();
    let error = Journal::open(&path).unwrap_err();
    let (found, known) = (RECORD_SCHEMA + 4, RECORD_SCHEMA);
    assert!(
        error.to_string().contains(&format!(
            "has schema {found}, but this version reads schemas up to {known}"
        )),
        "{error}"
    );
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_journal_that_somebody_else_wrote_to_is_not_written_to() {
    let (_folder, path, mut journal) = with_records(2);
    let mut other = fs::OpenOptions::new().append(true).open(&path).unwrap();
    other.write_all(b"x").unwrap();
    let error = journal.append(&records(2, 1)).unwrap_err();
    assert!(matches!(error, JournalError::Changed { .. }), "{error}");

    let (_folder, path, mut journal) = with_records(2);
    fs::remove_file(&path).unwrap();
    let error = journal.append(&records(2, 1)).unwrap_err();
    assert!(
        matches!(error, JournalError::Changed { found: 0, .. }),
        "{error}"
    );
}

#[test]
fn a_refused_record_leaves_the_journal_as_it_was() {
    let (_folder, path, mut journal) = with_records(2);
    let mut unprintable = trial(&key(1), 5);
    unprintable.config = "A=\u{7}".into();
    let error = journal.append(&[Record::End(unprintable)]).unwrap_err();
    assert!(matches!(error, JournalError::Record(_)), "{error}");

    let mut large = crate::samples::process(&key(1), "A=1", 0, 0);
    large.block_log_ratio_ppm = vec![i64::MIN; 100_000];
    let error = journal
        .append(&[Record::ConfirmProcess(large)])
        .unwrap_err();
    assert!(
        matches!(error, JournalError::RecordTooLarge { .. }),
        "{error}"
    );
    journal.append(&records(2, 1)).unwrap();
    assert_eq!(read_back(&path), records(0, 3));
}

#[test]
fn a_rewritten_journal_is_another_one_and_the_old_is_kept_where_asked() {
    let (folder, path, mut journal) = with_records(5);
    let (id, before) = (journal.id(), fs::read(&path).unwrap());
    let kept = folder.path().join("kept");
    journal.rewrite(&records(3, 2), Some(&kept)).unwrap();
    assert_ne!(journal.id(), id);
    assert_eq!(fs::read(&kept).unwrap(), before);
    journal.append(&records(5, 1)).unwrap();
    assert_eq!(read_back(&path), records(3, 3));
    assert_eq!(Journal::open(&path).unwrap().1.damaged, 0);
}

#[test]
fn a_sound_frame_with_unknown_content_is_passed_over_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let frame = Frame {
        version: RECORD_SCHEMA,
        journal: 7,
        sequence: 1,
        chain: frame::first_chain(),
        payload: "{\"future\":{}}",
    };
    fs::write(&path, frame.encode()).unwrap();
    let replayed = read::<JournalError>(&path, 0, &mut |_, _| Ok(())).unwrap();
    assert_eq!((replayed.records, replayed.undecodable), (0, 1));
}

#[test]
fn deeply_nested_and_oversized_content_is_undecodable() {
    for payload in [
        "[".repeat(100_000),
        format!("{{\"end\":{}}}", "9".repeat(9999)),
    ] {
        assert_eq!(super::read::decode(&payload), None);
    }
}

#[test]
fn a_missing_journal_reads_as_an_empty_one_and_a_folder_does_not() {
    let folder = tempfile::tempdir().unwrap();
    assert!(read_back(&folder.path().join("none")).is_empty());
    let error = Journal::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("help: "), "{error}");
}
