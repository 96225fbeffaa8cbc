//! The page about the plan of a fleet (the searches and confirmations that many machines share): progress, results by
//! kind of device, and devices that disagree.

use kiln_exchange::fleet::{PlanStatus, SessionStatus, TaskState, TaskStatus};
use maud::{Markup, html};

use super::intervals::{self, IntervalRow};
use super::page::document;
use super::share_bar::{self, Share};
use super::svg::breakable;

/// The states of a task in the order of their segments in a bar, each with its CSS class.
const STATES: [(TaskState, &str); 6] = [
    (TaskState::Proven, "p-confirm"),
    (TaskState::Kept, "p-verify"),
    (TaskState::Stopped, "p-strategy"),
    (TaskState::NeedsReplica, "p-race"),
    (TaskState::Searched, "p-compile"),
    (TaskState::Missing, "p-other"),
];

/// Draws the state of a plan as one HTML page that loads no other file.
pub fn plan_page(status: &PlanStatus) -> String {
    let kinds = kinds(status);
    let body = html! {
        header {
            h1 { "Plan " (status.plan.get(..12).unwrap_or(&status.plan)) }
            p class="note" {
                (status.finished.len()) " of " (status.elements) " elements are done; " (status.journals) " attempts published "
                (status.records) " records. A row needs " (status.replicas) " devices."
            }
            @for complaint in &status.complaints { p class="warn" { (complaint) } }
        }
        main {
            section {
                h2 { "Progress" }
                @for kind in &kinds { (progress(status, kind)) }
            }
            section {
                h2 { "Kinds of devices side by side" }
                (side_by_side(status, &kinds))
            }
            section {
                h2 { "Devices that disagree" }
                (disputes(status))
            }
            @for kind in &kinds { (devices(status, kind)) }
        }
    };
    document("Kiln: plan", &body)
}

/// The kinds of devices of a plan, in the order of the plan.
fn kinds(status: &PlanStatus) -> Vec<&str> {
    let mut kinds: Vec<&str> = Vec::new();
    for task in &status.tasks {
        if !kinds.contains(&task.kind.as_str()) {
            kinds.push(&task.kind);
        }
    }
    kinds
}

fn of_kind<'a>(status: &'a PlanStatus, kind: &'a str) -> impl Iterator<Item = &'a TaskStatus> {
    status.tasks.iter().filter(move |task| task.kind == kind)
}

/// Draws how many tasks of a kind are in each state.
fn progress(status: &PlanStatus, kind: &str) -> Markup {
    let all = of_kind(status, kind).count();
    let names = STATES.map(|(state, style)| (state, state.to_string(), style));
    let counted = names.iter().map(|(state, name, style)| {
        let count = of_kind(status, kind)
            .filter(|task| task.state == *state)
            .count();
        (name.as_str(), *style, count)
    });
    let shares: Vec<Share<'_>> = counted
        .filter(|(_, _, count)| *count > 0)
        .map(|(name, style, count)| Share {
            name,
            style,
            amount: count as f64,
            says: format!("{count} of {all} problems"),
        })
        .collect();
    html! {
        figure {
            figcaption { (kind) ": " @for (n, share) in shares.iter().enumerate() { @if n > 0 { ", " } (share.amount) " " (share.name) } }
            (share_bar::draw(&shares, all.max(1) as f64, &format!("States of the problems on {kind}")))
        }
    }
}

/// Draws a table with one row per problem and one column per kind of device.
fn side_by_side(status: &PlanStatus, kinds: &[&str]) -> Markup {
    let mut problems: Vec<(&str, &str)> = Vec::new();
    for task in &status.tasks {
        let name = (task.kernel.as_str(), task.problem.as_str());
        if !problems.contains(&name) {
            problems.push(name);
        }
    }
    html! {
        div class="wide" {
            table class="sortable" {
                thead { tr { th class="t" { "kernel" } th class="t" { "problem" } @for kind in kinds { th class="n" { (kind) } } } }
                tbody {
                    @for problem in problems {
                        tr {
                            td class="t" data-v=(problem.0) { (problem.0) }
                            td class="t" data-v=(problem.1) { (breakable(problem.1)) }
                            @for kind in kinds { (cell(found(status, kind, problem), status.replicas)) }
                        }
                    }
                }
            }
        }
    }
}

/// Finds the task of a kind of device for a kernel and problem.
fn found<'a>(
    status: &'a PlanStatus,
    kind: &str,
    (kernel, problem): (&str, &str),
) -> Option<&'a TaskStatus> {
    let mut tasks = status.tasks.iter();
    tasks.find(|task| task.kind == kind && task.kernel == kernel && task.problem == problem)
}

fn cell(task: Option<&TaskStatus>, replicas: u32) -> Markup {
    let Some(task) = task else {
        return html! { td class="n" {} };
    };
    let Some(speedup) = task.speedup else {
        let why = task.why.as_deref().unwrap_or_default();
        return html! {
            td class="n" data-v="0" title=(why) {
                (task.state) @if task.state == TaskState::NeedsReplica { " (" (task.devices) " of " (replicas) ")" }
            }
        };
    };
    let config = task.config.as_deref().unwrap_or_default();
    html! { td class="n" data-v=(speedup.ppm) title=(config) { (speedup) ", " (task.devices) " devices" } }
}

/// Draws the tasks whose sessions contradict each other. A session is one attempt at an element of the plan, on one
/// device.
fn disputes(status: &PlanStatus) -> Markup {
    let disputed: Vec<&TaskStatus> = status
        .tasks
        .iter()
        .filter(|task| task.is_disputed())
        .collect();
    html! {
        @if disputed.is_empty() {
            p class="none" { "No two sessions contradict each other." }
        } @else {
            p class="note" {
                "One session proved a config and another kept the baseline, or their intervals for one config have nothing in common."
            }
            @for task in disputed {
                h3 { (task.kernel) " " span class="problem" { (breakable(&task.problem)) } " on " (task.kind) }
                @if let Some(why) = &task.why { p class="note" { (why) } }
                (intervals::draw(&rows(task, ""), "Speed-ups by device"))
            }
        }
    }
}

/// Draws the decisions of each device of a kind.
fn devices(status: &PlanStatus, kind: &str) -> Markup {
    let tasks = of_kind(status, kind);
    let rows: Vec<IntervalRow> = tasks
        .flat_map(|task| rows(task, &format!("{} ({}), ", task.kernel, task.problem)))
        .collect();
    if rows.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "What each device of " (kind) " decided" }
            (intervals::draw(&rows, &format!("Speed-ups by problem and device of {kind}")))
            p class="note" {
                "A dot is a speed-up that a session proved, with its 95 % interval; an empty one a session that kept the baseline."
                " Times of different sessions are not comparable: these are ratios, each to the baseline of its own session."
            }
        }
    }
}

/// One row for each session that made a decision.
fn rows(task: &TaskStatus, prefix: &str) -> Vec<IntervalRow> {
    let decided = task
        .sessions
        .iter()
        .filter(|session| session.config.is_some());
    decided.map(|session| row(session, prefix)).collect()
}

fn row(session: &SessionStatus, prefix: &str) -> IntervalRow {
    let factors = session.speedup.map(|speedup| speedup.factors());
    let says = factors.map_or_else(
        || format!("{}: baseline", session.stage),
        |(speedup, _)| format!("{}: {speedup:.2}×", session.stage),
    );
    IntervalRow {
        name: format!("{prefix}{}", session.device()),
        link: None,
        class: if factors.is_some() {
            "s-proven"
        } else {
            "s-kept"
        },
        speedup: factors.map_or(1.0, |(speedup, _)| speedup),
        interval: factors.map(|(_, interval)| interval),
        says,
        title: session.config.clone().unwrap_or_default(),
    }
}
