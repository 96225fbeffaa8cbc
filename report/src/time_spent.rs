//! The part of the page that shows where the time of a run went.

use kiln_cache::record::TimeSpent;
use kiln_spec::time::Nanoseconds;
use maud::{Markup, html};

use super::figures::{RunFigures, TaskFigures};
use super::share_bar::{self, Share};
use super::svg::breakable;

/// A part of the time that a run took: its name, its CSS class and its duration in nanoseconds.
type Part = (&'static str, &'static str, u64);

fn parts(spent: &TimeSpent) -> [Part; 6] {
    [
        ("strategy", "p-strategy", spent.strategy_ns),
        ("compile", "p-compile", spent.compile_ns),
        ("verify", "p-verify", spent.verify_ns),
        ("race", "p-race", spent.race_ns),
        ("confirm", "p-confirm", spent.confirm_ns),
        ("other", "p-other", spent.other_ns()),
    ]
}

/// Draws a bar for the run, and a table of its tasks.
pub(super) fn draw(figures: &RunFigures) -> Markup {
    let Some(spent) = figures.spent.filter(|spent| spent.elapsed_ns > 0) else {
        return html! { p class="none" { "Where the time went is not recorded: the run did not end in order, or an earlier version ran, or there was nothing to do." } };
    };
    let timed = figures
        .tasks
        .iter()
        .filter(|task| task.spent.is_some_and(|spent| spent.elapsed_ns > 0));
    html! {
        (bar(&spent))
        div class="wide" {
            table class="sortable" {
                thead {
                    tr {
                        th class="t" { "task" }
                        @for (name, class, _) in parts(&spent) { th class="n" { span class=(format!("key {class}")) {} (name) } }
                        th class="n" { "all" }
                    }
                }
                tbody { @for task in timed { (row(task)) } }
                tfoot { tr { td { "all tasks" } (cells(&spent)) } }
            }
        }
        p class="note" {
            "By the wall clock; compiling by all threads at once. The strategy's part is choosing configs and taking in their results; "
            "other: preparing the baseline and its reference, storing trials."
        }
    }
}

fn row(task: &TaskFigures) -> Markup {
    html! {
        tr {
            td class="t" data-v=(task.name()) { (breakable(&task.name())) }
            @if let Some(spent) = &task.spent { (cells(spent)) }
        }
    }
}

fn cells(spent: &TimeSpent) -> Markup {
    html! {
        @for (_, _, ns) in parts(spent) { td class="n" data-v=(ns) { (Nanoseconds(ns)) } }
        td class="n" data-v=(spent.elapsed_ns) { (Nanoseconds(spent.elapsed_ns)) }
    }
}

fn bar(spent: &TimeSpent) -> Markup {
    let shares = parts(spent).map(|(name, style, ns)| Share {
        name,
        style,
        amount: ns as f64,
        says: Nanoseconds(ns).to_string(),
    });
    let all = spent.elapsed_ns.max(1) as f64;
    share_bar::draw(&shares, all, "Where the time of the run went")
}
