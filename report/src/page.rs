//! The HTML page of a run.

use kiln_spec::Hash;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::convergence::Over;
use super::figures::{RunFigures, TaskFigures};
use super::speedups::ProblemState;
use super::svg::breakable;
use super::{best, environment, heat_map::HeatMap, importance, outcomes, speedups, time_spent};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("sort.js");

/// Draws the figures of a run as one HTML page that loads no other file. Equal figures give equal pages.
pub fn page(figures: &RunFigures) -> String {
    document(&format!("Kiln: run {}", figures.run), &body(figures))
}

/// Creates a complete HTML document around a body.
pub(super) fn document(title: &str, body: &Markup) -> String {
    // Only scripts with the nonce may run. A script that a record smuggles into the body cannot contain the nonce,
    // because the nonce is a hash of the body.
    let nonce = Hash::of("kiln report", body.0.as_bytes()).to_string();
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'"
    );
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (body)
                script nonce=(nonce) { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn body(figures: &RunFigures) -> Markup {
    let (searched, others): (Vec<_>, Vec<_>) = decided_first(&figures.tasks)
        .into_iter()
        .partition(|(task, _)| task.is_searched());
    html! {
        header {
            h1 { "Run " (figures.run) }
            p class="note" { (environment::utc(figures.began_unix_s)) }
            @for note in &figures.notes { p class="warn" { (note) } }
        }
        main {
            @if !figures.tasks.is_empty() {
                section {
                    h2 { "Speed-up of every problem" }
                    (speedups::draw(&figures.tasks))
                    p class="note" {
                        "A dot is a proven speed-up with its 95 % interval; an empty one stands for what is not proven."
                    }
                }
            }
            section {
                h2 { "Where the time went" }
                (time_spent::draw(figures))
            }
            (overview(&figures.tasks))
            section {
                h2 { "What ran, and on what" }
                (environment::draw(figures))
            }
            @for (task, number) in searched {
                (section(task, number, &figures.tasks))
            }
            @if !others.is_empty() {
                details class="others" {
                    summary { "Problems that were not searched: " (others.len()) }
                    @for (task, number) in others {
                        section class="task" id=(format!("task-{number}")) {
                            (heading(task))
                            p class="note" { (counts(task)) }
                        }
                    }
                }
            }
        }
    }
}

/// The tasks with their numbers: first the proven ones, then those that keep their baselines, then the undecided
/// ones.
fn decided_first(tasks: &[TaskFigures]) -> Vec<(&TaskFigures, usize)> {
    let mut tasks: Vec<_> = tasks.iter().zip(1..).collect();
    tasks.sort_by_key(|(task, _)| ProblemState::of(task));
    tasks
}

/// Draws the table of all tasks, with links to their sections.
fn overview(tasks: &[TaskFigures]) -> Markup {
    html! {
        section {
            h2 { "Tasks" }
            div class="wide" {
                table class="sortable" {
                    thead { tr { th class="t" { "kernel" } th class="t" { "problem" } th class="n" { "configs" } th class="n" { "valid" } th class="t" { "decision" } } }
                    tbody {
                        @for (task, number) in decided_first(tasks) {
                            @let (tried, valid) = tried(task);
                            tr {
                                td class="t" data-v=(task.kernel) { a href=(format!("#task-{number}")) { (task.kernel) } }
                                td class="t" data-v=(task.problem) { (breakable(&task.problem)) }
                                td class="n" data-v=(tried) {
                                    (tried) @if let Some(space) = task.space { " of " (space) }
                                }
                                td class="n" data-v=(valid) { (valid) }
                                td class="t" data-v=(task.evidence.headline()) { (task.evidence.headline()) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The number of configs tried, and the number of valid ones.
fn tried(task: &TaskFigures) -> (u64, u64) {
    let valid = task
        .outcomes
        .iter()
        .filter(|count| count.group == outcomes::Group::Valid);
    (
        task.trials + task.earlier_trials,
        valid.map(|count| count.count).sum(),
    )
}

fn section(task: &TaskFigures, number: usize, tasks: &[TaskFigures]) -> Markup {
    let winner = task
        .evidence
        .winner
        .as_ref()
        .map(|winner| winner.config.as_str());
    let own = environment::own(task, tasks);
    html! {
        section class="task" id=(format!("task-{number}")) {
            (heading(task))
            p class="note" { (counts(task)) }
            (task.evidence.draw())
            @if !own.is_empty() {
                details { summary { "What only this task ran with" } dl { @for (name, value) in &own { dt { (name) } dd { (value) } } } }
            }
            h3 { "Convergence" }
            (convergence(task))
            h3 { "Outcomes" }
            (outcomes::draw(&task.outcomes))
            @if let Some(histogram) = &task.histogram {
                div class="charts" { figure { figcaption { "Times of the valid configs" } (histogram.draw(task.baseline_ns, &task.name())) } }
            }
            h3 { "Importance of the parameters" }
            (importance::draw(&task.importance))
            (heat_maps(&task.heat_maps, !task.importance.ranking().is_empty()))
            h3 { "Best configs" }
            (best::draw(&task.best, winner))
        }
    }
}

fn heading(task: &TaskFigures) -> Markup {
    html! {
        h2 { (task.kernel) @if !task.problem.is_empty() { " " span class="problem" { (breakable(&task.problem)) } } }
    }
}

fn counts(task: &TaskFigures) -> String {
    let mut text = format!("{}; {} configs tried in this run", task.state, task.trials);
    if task.earlier_trials > 0 {
        text += &format!(", {} in earlier ones", task.earlier_trials);
    }
    if let Some(space) = task.space {
        text += &format!(", of {space} in the search space");
    }
    text
}

fn convergence(task: &TaskFigures) -> Markup {
    let name = task.name();
    let chart = |over| task.convergence.draw(over, task.baseline_ns, &name);
    html! {
        @match (chart(Over::Trials), chart(Over::Seconds)) {
            (Some(trials), Some(seconds)) => {
                div class="charts" {
                    figure { figcaption { "Best time so far, by trial" } (trials) }
                    figure { figcaption { "Best time so far, by the clock" } (seconds) }
                }
                p class="note" {
                    span class="key line" {} "best so far" span class="key dot" {} "a valid trial"
                    @if task.convergence.points.iter().any(|point| point.time_ns.is_none()) {
                        span class="key cross" { "×" } "a failed one, above all times"
                    }
                }
            },
            _ => p class="none" { "No trial of this run is recorded with its order, so there is no curve." },
        }
    }
}

fn heat_maps(maps: &[HeatMap], are_ranked: bool) -> Markup {
    if maps.is_empty() {
        return html! {};
    }
    html! {
        h3 { "Best time by pairs of parameters" }
        div class="charts" {
            @for map in maps { figure { (map.draw()) } }
        }
        p class="note" {
            @if are_ranked { "The most important parameters." } @else { "The first parameters that vary: which are the most important cannot be told." }
            " Bright is fast, dark is slow; each map has its own scale. An empty cell was not tried, × marks cells without a valid config."
        }
    }
}
