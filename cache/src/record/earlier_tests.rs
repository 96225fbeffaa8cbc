//! Records as earlier versions wrote them, byte for byte.

use super::*;
use crate::samples;

const TRIAL: &str = r#"{"end":{"kernel":"gemm","problem":"m=15,n=64","config":"BLOCK=15,UNROLL=4","device":"fake/fake/Fake, the device","key":"KEY","outcome":{"measured":{"samples":24,"median_ns":150,"min_ns":135,"ratio_ppm":null}},"compile_ns":15,"verify_ns":16,"measure_ns":17,"attempt":1,"grade":"reference"}}"#;
const STARTED: &str =
    r#"{"run_started":{"run":3,"version":"0.1.0","unix_s":1700000000,"seed":42}}"#;
const ENDED: &str = r#"{"run_ended":{"run":3,"unix_s":1700000060}}"#;

#[test]
fn records_without_the_later_fields_read_and_are_written_back_as_they_were() {
    let trial = TRIAL.replace("KEY", &samples::key(15).hash().to_string());
    for text in [&*trial, STARTED, ENDED] {
        let record: Record = serde_json::from_str(text).unwrap();
        record.check().unwrap();
        assert_eq!(serde_json::to_string(&record).unwrap(), text);
    }
    let Ok(Record::End(read)) = serde_json::from_str(&trial) else {
        panic!("{trial} is the end of a trial");
    };
    assert_eq!((read.place, read.measure_ns), (None, 17));
}

#[test]
fn a_program_that_knows_no_place_reads_the_rest_of_a_trial() {
    // The field `later` is unknown to this program, as `place` is unknown to earlier versions of it.
    let trial = samples::trial(&samples::key(1), 16);
    let text = serde_json::to_string(&Record::End(trial.clone())).unwrap();
    assert!(text.contains("\"place\""));
    let later = text.replace("\"place\"", "\"later\"");
    let read: Record = serde_json::from_str(&later).unwrap();
    assert_eq!(
        read,
        Record::End(Trial {
            place: None,
            ..trial
        })
    );
}

#[test]
fn a_run_of_more_tasks_than_a_record_takes_still_ends() {
    let key = samples::key(1);
    let ended = |tasks: u64| RunEnded {
        run: 1,
        unix_s: 2,
        elapsed_ns: Some(3),
        tasks: (0..tasks)
            .map(|n| samples::task_ended(&key, 3 * n))
            .collect(),
    };
    assert!(
        ended(100)
            .fitted()
            .tasks
            .iter()
            .all(|task| task.winner.is_some())
    );
    let without = ended(1_000).fitted();
    assert!(without.tasks.len() == 1_000 && without.tasks.iter().all(|task| task.winner.is_none()));
    assert_eq!(ended(100_000).fitted().tasks, []);
}

#[test]
fn a_command_line_of_any_bytes_becomes_a_text_that_a_record_takes() {
    for text in ["", "tune\n-k \u{1b}[2J", &"ü\u{7}".repeat(5_000)] {
        plain_text("command", &printable(text)).unwrap();
    }
    assert_eq!(printable("a\nb"), "a\\nb");
}
