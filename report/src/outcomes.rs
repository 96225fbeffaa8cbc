//! The outcomes of trials: a stacked bar, and a table with an example of each failure.

use std::collections::BTreeMap;

use kiln_cache::{Outcome, Trial};
use maud::{Markup, html};
use serde::Serialize;

use super::svg::{WIDTH, breakable, short};

/// The number of trials that have a specific outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutcomeCount {
    /// The name of the outcome.
    pub name: &'static str,
    /// The group of the outcome, which determines its colour.
    pub group: Group,
    /// The number of trials.
    pub count: u64,
    /// For a failure, the config and the message of the first trial with this outcome; `None` for valid trials.
    pub example: Option<String>,
}

/// A group of outcomes with a common cause. The outcomes of a group have the same colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// The config was verified and timed.
    Valid,
    /// The config violates a rule and was not compiled.
    Excluded,
    /// The compiler produced no image.
    Compiler,
    /// The device did not accept the launch.
    Refused,
    /// The kernel was launched, and its outputs or accesses are wrong.
    Wrong,
    /// The launch did not finish, or ended its worker process.
    Lost,
    /// The measurement failed, or Kiln itself failed.
    Kiln,
}

impl Group {
    fn of(outcome: &Outcome) -> Group {
        match outcome {
            Outcome::Measured(_) => Group::Valid,
            Outcome::Rejected { .. } => Group::Excluded,
            Outcome::CompileFailed { .. }
            | Outcome::CompileTimedOut { .. }
            | Outcome::CompilerLost { .. } => Group::Compiler,
            Outcome::LaunchRefused { .. } | Outcome::OutOfMemory { .. } => Group::Refused,
            Outcome::Incorrect(_)
            | Outcome::NotANumber { .. }
            | Outcome::Unwritten { .. }
            | Outcome::ReadsOutput { .. }
            | Outcome::KernelFault { .. }
            | Outcome::GuardHit { .. }
            | Outcome::InputChanged { .. }
            | Outcome::WrongLaunch { .. } => Group::Wrong,
            Outcome::TimedOut { .. } | Outcome::WorkerLost { .. } | Outcome::Quarantined { .. } => {
                Group::Lost
            }
            _ => Group::Kiln,
        }
    }

    /// The group's CSS class.
    fn class(self) -> &'static str {
        match self {
            Group::Valid => "g-valid",
            Group::Excluded => "g-excluded",
            Group::Compiler => "g-compiler",
            Group::Refused => "g-refused",
            Group::Wrong => "g-wrong",
            Group::Lost => "g-lost",
            Group::Kiln => "g-kiln",
        }
    }
}

/// Counts the trials by outcome. Valid trials come first, then failures by group.
pub(super) fn count(trials: &[&Trial]) -> Vec<OutcomeCount> {
    let mut counts: BTreeMap<(Group, &str), OutcomeCount> = BTreeMap::new();
    for trial in trials {
        let (group, name) = (Group::of(&trial.outcome), trial.outcome.name());
        let example =
            || (group != Group::Valid).then(|| format!("{}: {}", trial.config, trial.outcome));
        let entry = counts.entry((group, name)).or_insert_with(|| OutcomeCount {
            name,
            group,
            count: 0,
            example: example(),
        });
        entry.count += 1;
    }
    counts.into_values().collect()
}

/// Draws the bar and the table.
pub(super) fn draw(counts: &[OutcomeCount]) -> Markup {
    let all: u64 = counts.iter().map(|count| count.count).sum();
    if all == 0 {
        return html! { p class="none" { "No config was tried." } };
    }
    let has_examples = counts.iter().any(|count| count.example.is_some());
    html! {
        (bar(counts, all))
        div class="wide" {
            table {
                thead { tr { th { "outcome" } th class="n" { "trials" } th class="n" { "share" } @if has_examples { th { "first of them" } } } }
                tbody {
                    @for count in counts {
                        tr {
                            td class="nowrap" { span class=(format!("key {}", count.group.class())) {} (count.name) }
                            td class="n" { (count.count) }
                            td class="n" { (format!("{:.1} %", 100.0 * count.count as f64 / all as f64)) }
                            @if has_examples { td class="text" { (breakable(count.example.as_deref().unwrap_or(""))) } }
                        }
                    }
                }
            }
        }
    }
}

fn bar(counts: &[OutcomeCount], all: u64) -> Markup {
    const HEIGHT: f64 = 22.0;
    let mut from = 0.0;
    let parts: Vec<_> = counts
        .iter()
        .map(|count| {
            let width = WIDTH * count.count as f64 / all as f64;
            from += width;
            (count, from - width, width)
        })
        .collect();
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) class="bar" role="img" aria-label="Outcomes of all trials" {
            @for (count, x, width) in parts {
                rect class=(count.group.class()) x=(short(x)) y="0" width=(short(width)) height=(HEIGHT) {
                    title { (count.name) ": " (count.count) " of " (all) }
                }
                @if width > 48.0 {
                    text class=(format!("inbar on-{}", count.group.class())) x=(short(x + 6.0)) y="15" { (count.count) }
                }
            }
        }
    }
}
