use proptest::prelude::*;

use super::*;
use crate::samples::{key, trial, winner};

fn read(text: &str) -> Option<Record> {
    let record: Record = serde_json::from_str(text).ok()?;
    record.check().ok()?;
    Some(record)
}

/// Records of several kinds as JSON, whose texts the tests edit.
fn originals() -> Vec<String> {
    let key = key(1);
    let mut records: Vec<_> = (0..16).map(|n| Record::End(trial(&key, n))).collect();
    records.push(Record::Sealed(winner(&key, 2)));
    records.push(Record::Key(key));
    let texts = records.iter().map(serde_json::to_string);
    texts.collect::<Result<_, _>>().unwrap()
}

/// Edits that create invalid records. Each has a piece of text and its replacement.
fn hostile_edits() -> Vec<(&'static str, String)> {
    let long = "x".repeat(5000);
    let edits = [
        ("\"gemm\"", "\"\""),
        ("\"gemm\"", "\"ge\\u0000mm\""),
        ("\"gemm\"", "\"ge\\u001b[2Jmm\""),
        ("\"gemm\"", "7"),
        ("\"gemm\"", "null"),
        ("\"gemm\"", &format!("\"{long}\"")),
        ("BLOCK=", "\\nBLOCK="),
        ("BLOCK=", &long),
        ("\"fake/fake/Fake, the device\"", "\"fake\""),
        ("\"fake/fake/Fake, the device\"", "\"tpu/a/b\""),
        ("\"fake/fake/Fake, the device\"", "\"fake//b\""),
        ("\"reference\"", "\"trust me\""),
        ("\"compile_ns\":", "\"compile_ns\":-"),
        ("\"compile_ns\":", "\"compile_ns\":1e99,\"_\":"),
        ("\"compile_ns\":", "\"compile_ns\":0.5,\"_\":"),
        ("\"compile_ns\":", "\"compile_ns\":NaN,\"_\":"),
        (
            "\"compile_ns\":",
            "\"compile_ns\":99999999999999999999999,\"_\":",
        ),
        ("\"compile_ns\":", "\"compile_ns\":1,\"compile_ns\":"),
        ("\"compile_ns\":", "\"_\":"),
        ("\"attempt\":1", "\"attempt\":4294967296"),
        ("\"outcome\":", "\"outcome\":\"measured\",\"_\":"),
        ("\"outcome\":", "\"outcome\":{\"fast\":{}},\"_\":"),
        ("\"NaN\"", "\"not a number\""),
        ("\"processes\":9", "\"processes\":8"),
        ("\"low_ppm\":1050000", "\"low_ppm\":9050000"),
        ("\"confirm\":{", "\"confirm\":null,\"_\":{"),
        ("\"block\":[64,1,1]", "\"block\":[64,1]"),
        ("\"block\":[64,1,1]", "\"block\":[64,1,1,1]"),
        ("\"block\":[64,1,1]", "\"block\":[-1,1,1]"),
        ("\"symbol\":\"", "\"symbol\":\"\\u0007"),
        ("\"driver\":\"1\"", "\"driver\":\"2\""),
        ("\"driver\":\"1\"", "\"driver\":[\"1\"]"),
        ("\"hash\":\"", "\"hash\":\"../../"),
    ];
    let owned = edits.map(|(from, to)| (from, to.to_string()));
    owned.into()
}

#[test]
fn hostile_records_are_refused_every_one() {
    let originals = originals();
    assert!(originals.iter().all(|text| read(text).is_some()));
    let mut refused = 0;
    for (from, to) in hostile_edits() {
        let hit: Vec<_> = originals.iter().filter(|t| t.contains(from)).collect();
        assert!(!hit.is_empty(), "{from} is in no record");
        for text in hit {
            let edited = text.replacen(from, &to, 1);
            assert_eq!(read(&edited), None, "{from} -> {to:.80}");
            refused += 1;
        }
    }
    assert!(refused >= 200, "only {refused}");
}

proptest! {
    #[test]
    fn no_edit_makes_reading_panic(
        which in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        insert in "\\PC{0,8}",
        cut in 0_usize..20,
    ) {
        let originals = originals();
        let mut text: Vec<char> = which.get(&originals).chars().collect();
        let at = at.index(text.len());
        let end = (at + cut).min(text.len());
        text.splice(at..end, insert.chars());
        let text: String = text.into_iter().collect();
        // The text is either rejected, or it is a record whose texts are all printable.
        if let Some(Record::End(trial)) = read(&text) {
            prop_assert!(!trial.config.chars().any(char::is_control));
        }
    }
}
