use super::*;

fn lost_by(signal: Option<i32>) -> Outcome {
    Outcome::WorkerLost {
        signal,
        detail: String::new(),
    }
}

#[test]
fn only_a_measured_config_is_valid() {
    let summary = Summary {
        samples: 8,
        median_ns: 10,
        min_ns: 9,
        ratio_ppm: None,
    };
    assert!(Outcome::Measured(summary).is_valid());
    assert!(!lost_by(Some(11)).is_valid());
    assert!(!Outcome::Quarantined { strikes: 2 }.is_valid());
}

#[test]
fn what_no_compiler_judged_does_not_stand_and_a_crash_stands_after_two_attempts() {
    let lost = |crashed| Outcome::CompilerLost {
        how: "it ended by signal: 9 (SIGKILL)".into(),
        crashed,
    };
    assert!(!lost(false).stands(1) && !lost(false).stands(100));
    assert!(!lost(true).stands(1) && lost(true).stands(2));
    let slow = Outcome::CompileTimedOut { limit_ns: 1 };
    assert!(!slow.stands(1) && slow.stands(2));
    assert!(lost_by(None).stands(1) && lost_by(Some(11)).stands(1));
    let killed = lost_by(Some(SIGKILL));
    assert!(!killed.stands(1) && killed.stands(2));
    assert!(lost(false).to_string().contains("SIGKILL"));
}

#[test]
fn a_limit_is_shown_in_its_own_unit_and_stored_in_nanoseconds() {
    let hung = Outcome::TimedOut {
        limit_ns: 2_500_000_000,
    };
    assert_eq!(hung.to_string(), "timed out after 2.5 s");
    let stored = serde_json::to_string(&hung).unwrap();
    assert_eq!(stored, r#"{"timed_out":{"limit_ns":2500000000}}"#);
    let slow = Outcome::CompileTimedOut {
        limit_ns: 60_000_000_000,
    };
    assert_eq!(slow.to_string(), "compile timed out after 60 s");
}

#[test]
fn an_incorrect_outcome_names_both_values() {
    let worst = MaxError {
        output: "c".into(),
        index: 7,
        got: Real(f64::INFINITY),
        want: Real(1.5),
        error: Real(f64::INFINITY),
        bound: Real(1e-5),
        against: Against::Reference,
        inputs: None,
    };
    let text = |against| {
        Outcome::Incorrect(MaxError {
            against,
            ..worst.clone()
        })
        .to_string()
    };
    assert_eq!(
        text(Against::Reference),
        "incorrect: c[7] is inf, but the reference says 1.5 (error inf, bound 1e-5)"
    );
    assert_eq!(
        text(Against::Baseline),
        "incorrect: c[7] is inf, but the baseline says 1.5 (error inf, bound 1e-5)"
    );
}

#[test]
fn a_fault_of_a_kernel_is_named_by_its_kind_and_shown_with_every_line() {
    let fault = |text: &str| Outcome::KernelFault { text: text.into() };
    let barrier = "divergent barrier: it waits at a.cu:3\nhelp: all threads must reach it";
    assert_eq!(fault(barrier).name(), "divergent barrier");
    assert_eq!(fault(barrier).to_string(), barrier);
    assert_eq!(fault("race: two writes").name(), "race");
    let race = "block (0,0,0) thread (1,0,0): race: it writes `out`[0] at a.cu:3";
    assert_eq!(fault(race).name(), "race");
    assert_eq!(fault(race).to_string(), race);
    let copy = "block (0,0,0) thread (1,0,0): it reads `x`, but thread (0,0,0) has not waited for its copy_async";
    assert_eq!(fault(copy).name(), "race");
    assert_eq!(fault("out of bounds: y[7]").name(), "out of bounds");
    assert_eq!(fault("trap").to_string(), "kernel fault: trap");
}

#[test]
fn a_lost_worker_keeps_its_signal_and_its_last_words() {
    let lost = Outcome::WorkerLost {
        signal: Some(11),
        detail: "kiln: y".into(),
    };
    assert_eq!(
        lost.to_string(),
        "worker lost: signal 11 (invalid memory access): kiln: y"
    );
    assert_eq!(lost_by(None).to_string(), "worker lost");
}

#[test]
fn outcomes_of_earlier_programs_read_and_are_written_back_as_they_were() {
    let earlier = [
        r#"{"worker_lost":{"signal":11}}"#,
        r#"{"launch_refused":{"reason":"kernel `k` failed: trap"}}"#,
        r#"{"incorrect":{"output":"c","index":7,"got":"2.0","want":"1.0","error":"1.0","bound":"0.5"}}"#,
    ];
    for text in earlier {
        let outcome: Outcome = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&outcome).unwrap(), text);
    }
}
