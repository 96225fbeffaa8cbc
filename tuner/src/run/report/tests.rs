//! Tests of the text of run reports.
#![cfg(test)]

use std::collections::BTreeMap;

use kiln_cache::Winner;
use kiln_cache::record::{
    Confirm, KeptReason, RecordedBaseline, ReferenceGrade, TimeSpent, Verdict,
};
use kiln_spec::{Hash, LaunchPlan};

use super::{RunTotals, TaskReport, TaskState, by_kernel};

fn task(state: TaskState, verdict: Option<Verdict>) -> TaskReport {
    let (kernel, problem) = ("gelu".to_owned(), "n=1".to_owned());
    let key = Hash::of("key", b"");
    let plan = LaunchPlan {
        grid: [1; 3],
        block: [1; 3],
        shared_bytes: 0,
    };
    let winner = verdict.map(|verdict| Winner {
        kernel: kernel.clone(),
        problem: problem.clone(),
        device: "cpu/x86-64-v3/x".parse().unwrap(),
        key,
        config: String::new(),
        baseline: RecordedBaseline::Entry {
            entry: "plain".into(),
        },
        verdict,
        confirm: None,
        receipt: key,
        plan,
        symbol: String::new(),
        grade: ReferenceGrade::Reference,
    });
    TaskReport {
        package: "shop".into(),
        label: kernel.clone(),
        kernel,
        problem,
        key,
        state,
        space: 1,
        sampled: None,
        trials: 0,
        outcomes: BTreeMap::new(),
        examples: BTreeMap::new(),
        starts_from: Vec::new(),
        unchecked: None,
        remark: None,
        needs: None,
        winner,
        spent: TimeSpent::default(),
    }
}

fn proven(speedup_ppm: u64) -> Option<Verdict> {
    Some(Verdict::Proven {
        speedup_ppm,
        low_ppm: speedup_ppm,
        high_ppm: speedup_ppm,
    })
}

fn kept(reason: KeptReason) -> Option<Verdict> {
    Some(Verdict::BaselineKept { reason })
}

#[test]
fn every_problem_is_counted_once_and_means_are_geometric() {
    let failed = TaskState::Failed {
        reason: "it does not compile".into(),
    };
    let tasks = [
        task(TaskState::Searched, proven(2_000_000)),
        // A proof is kept, even if a later search ran out of time or did not begin.
        task(TaskState::Unfinished, proven(8_000_000)),
        task(TaskState::Known, kept(KeptReason::NothingFaster)),
        task(TaskState::Searched, kept(KeptReason::NotProven)),
        task(TaskState::Unfinished, kept(KeptReason::NotProven)),
        task(TaskState::Unfinished, kept(KeptReason::Inconclusive)),
        task(TaskState::NotSearched, None),
        task(failed, None),
    ];
    let said = "8 problems: 2 proven faster, 4.00x in the geometric mean; 2 kept the baseline; 2 undecided; \
                1 not searched; 1 failed (with those kept as 1.00x: 2.00x)";
    assert_eq!(RunTotals::of(&tasks).to_string(), said);
}

#[test]
fn nothing_proven_has_no_mean() {
    let totals = RunTotals::of(&[task(TaskState::NotSearched, None)]);
    assert_eq!((totals.proven_mean, totals.decided_mean), (None, None));
    assert_eq!(
        totals.to_string(),
        "1 problems: 0 proven faster; 1 not searched"
    );
}

#[test]
fn a_run_of_many_problems_has_a_line_for_each_kernel() {
    let failed = TaskState::Failed {
        reason: "the baseline does not work: it does not compile".into(),
    };
    let mut tasks = vec![
        task(TaskState::Searched, proven(2_000_000)),
        task(TaskState::Unfinished, proven(8_000_000)),
        task(TaskState::Known, kept(KeptReason::NothingFaster)),
        task(TaskState::NotSearched, None),
        task(failed, None),
    ];
    tasks.push(task(TaskState::Unfinished, kept(KeptReason::Inconclusive)));
    tasks[4].label = "broken".into();
    tasks[5].label = "add".into();
    let table = by_kernel::table(&tasks);
    let want = "\
kernel  proven  kept  open  failed  speed-up  from   to
add     -       -     1     -       -         -      -
broken  -       -     -     1       -         -      -
gelu    2       1     1     -       4.00x     2.00x  8.00x
broken (n=1): the baseline does not work: it does not compile
";
    assert_eq!(table, want);
}

#[test]
fn a_confirmation_without_an_end_says_how_far_it_got() {
    let mut open = task(TaskState::Unfinished, kept(KeptReason::Inconclusive));
    let told = |open: &TaskReport| open.one_line();
    assert_eq!(
        told(&open),
        "gelu (n=1): baseline kept: the confirmation was inconclusive"
    );
    if let Some(winner) = &mut open.winner {
        winner.confirm = Some(Confirm {
            processes: 5,
            wins: 4,
            median_log_ratio_ppm: -2_302_585,
            low_log_ratio_ppm: -2_302_585,
            high_log_ratio_ppm: -2_302_585,
        });
    }
    assert_eq!(
        told(&open),
        "gelu (n=1): baseline kept: the confirmation was inconclusive: 10.00x so far, faster in 4 of 5 processes"
    );
}
