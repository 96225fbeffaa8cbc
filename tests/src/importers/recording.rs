//! Checks of recordings: cache files of Kernel Tuner, and T4 results files.

use std::collections::BTreeMap;

use kiln_exchange::of_recording;
use kiln_exchange::recording::{Invalidity, RecordedTrial, Recording, parse};
use kiln_search::{Guide, SpaceView};
use kiln_tuner::replay::{ReplayPlan, replay};

use super::assert_line;

/// Larger recordings are not written and read again, so a fuzzer makes progress.
const MAX_ENTRIES: usize = 500;

/// Maximum number of configs of the recordings that are searched.
const SEARCHED: usize = 24;

pub(super) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let recording = match parse(text, "kernel@device".into()) {
        Ok(recording) => recording,
        Err(fault) => {
            let problem = fault.problem.to_string();
            assert_line(text, fault.line, &problem);
            let named = problem.contains('`') || problem.starts_with("the file: ");
            assert!(named, "no field is named: {problem}");
            return;
        }
    };
    is_whole(&recording);
    if recording.entries.len() <= MAX_ENTRIES {
        reads_back(&recording);
    }
    if recording.entries.len() <= SEARCHED {
        is_searched(&recording);
    }
}

/// Checks that every config is found at its own index, and that every figure is a number.
fn is_whole(recording: &Recording) {
    let (space, entries) = (&recording.space, &recording.entries);
    assert_eq!(space.len(), entries.len());
    for index in 0..space.len().min(MAX_ENTRIES) {
        assert_eq!(space.index_of(&space.positions(index)), Some(index));
    }
    for entry in entries {
        assert!(
            entry.cost_ms.is_finite() && entry.cost_ms >= 0.0,
            "{entry:?}"
        );
        assert!(
            entry
                .time_ms
                .is_none_or(|time| time.is_finite() && time > 0.0)
        );
        assert_eq!(
            entry.time_ms.is_some(),
            entry.invalidity == Invalidity::Correct
        );
    }
}

/// The result of each config. The key contains the name of each parameter and the text of its value.
fn by_config(recording: &Recording) -> BTreeMap<BTreeMap<&str, &str>, RecordedTrial> {
    let params = recording.space.params();
    let config = |index: usize| {
        let positions = recording.space.positions(index);
        let values = params.iter().zip(positions);
        values
            .map(|(param, at)| (param.name.as_str(), param.texts[at as usize].as_str()))
            .collect()
    };
    let entries = recording.entries.iter().enumerate();
    entries
        .map(|(index, entry)| (config(index), *entry))
        .collect()
}

fn reads_back(recording: &Recording) {
    let results = of_recording(recording);
    let written = results.to_t4();
    let again = parse(&written, "kernel@device".into());
    let again = again.unwrap_or_else(|fault| panic!("{fault}\n{written}"));
    assert_eq!(by_config(recording), by_config(&again), "{written}");
    let Ok(written) = results.to_kernel_tuner() else {
        return;
    };
    let again = parse(&written, "kernel@device".into());
    let again = again.unwrap_or_else(|fault| panic!("{fault}\n{written}"));
    let mut expected = by_config(recording);
    for entry in expected.values_mut() {
        // A cache file distinguishes fewer kinds of failures than a T4 file.
        let known = entry.invalidity.in_cache_files();
        entry.invalidity = known.map_or(Invalidity::Correct, Invalidity::of_cache_files);
    }
    assert_eq!(expected, by_config(&again), "{written}");
}

/// Checks that a search of the recording ends within its budget.
fn is_searched(recording: &Recording) {
    let guide = Guide::default();
    for strategy in ["auto", "genetic"] {
        let plan = ReplayPlan {
            strategy,
            budget: 16,
            batch: 3,
            seed: 1,
            stop: false,
            guide: &guide,
        };
        let run = replay(recording, &plan);
        assert!(run.evals <= 16 && run.evals <= recording.entries.len());
        let best = run.best_after(run.evals);
        assert!(best.is_none_or(|best| best.is_finite() && best > 0.0));
    }
}
