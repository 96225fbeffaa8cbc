//! The page about profiles. It shows the output of `tune inspect --profile --json`. A profile counts the instructions
//! of a launch.

use kiln_exchange::profiles::{CLASSES, Executed, FIGURES, MachineCode, Profile, ProfileRow};
use maud::{Markup, html};

use super::page::document;
use super::share_bar::{self, Share};
use super::svg::breakable;

/// The CSS class of each of [`CLASSES`], in the same order.
const STYLES: [&str; CLASSES.len()] = [
    "p-confirm",
    "p-race",
    "p-verify",
    "g-refused",
    "p-compile",
    "p-strategy",
    "g-lost",
    "g-wrong",
    OTHER,
    OTHER,
    OTHER,
    OTHER,
];

/// The CSS class of all instruction classes without a colour of their own.
const OTHER: &str = "p-other";

/// Draws profiles as one HTML page that loads no other file.
pub fn profiles_page(rows: &[ProfileRow]) -> String {
    let body = html! {
        header {
            h1 { "Profiles" }
            p class="note" { "Counted by simulated GPUs. Nothing here is a time." }
        }
        main {
            @for launches in by_problem(rows) { (section(&launches)) }
        }
    };
    document("Kiln: profiles", &body)
}

/// Groups the rows by kernel and problem, in the order of the first row of each group.
fn by_problem(rows: &[ProfileRow]) -> Vec<Vec<&ProfileRow>> {
    let mut problems: Vec<Vec<&ProfileRow>> = Vec::new();
    for row in rows {
        let same = |known: &&mut Vec<&ProfileRow>| {
            known[0].kernel == row.kernel && known[0].problem == row.problem
        };
        match problems.iter_mut().find(same) {
            Some(known) => known.push(row),
            None => problems.push(vec![row]),
        }
    }
    problems
}

fn section(rows: &[&ProfileRow]) -> Markup {
    let profiled: Vec<(&ProfileRow, &Profile)> = rows
        .iter()
        .filter_map(|row| Some((*row, row.profile.as_ref()?)))
        .collect();
    html! {
        section class="task" {
            h2 { (rows[0].kernel) " " span class="problem" { (breakable(&rows[0].problem)) } }
            @for row in rows {
                @if let Some(error) = &row.error {
                    p class="warn" { (row.target) ", " (row.what) " " code { (breakable(&row.config)) } ": " (error) }
                }
            }
            @if !profiled.is_empty() {
                h3 { "What is executed" }
                (legend(&profiled))
                @for (row, profile) in &profiled { (bar(row, &profile.executed)) }
                h3 { "Figures" }
                (figures(&profiled))
                h3 { "Where each cost is the highest" }
                (worst(&profiled))
            }
        }
    }
}

/// The name of a row in charts and tables: the target, and the role of the config, such as the baseline.
fn name(row: &ProfileRow) -> String {
    format!("{}, {}", row.target, row.what)
}

fn legend(profiled: &[(&ProfileRow, &Profile)]) -> Markup {
    let occurs = |name: &str| {
        let mut executed = profiled.iter().map(|(_, profile)| &profile.executed);
        executed.any(|executed| executed.by_class.contains_key(name))
    };
    html! {
        p class="note" {
            @for (name, style) in CLASSES.iter().zip(STYLES).filter(|(name, style)| *style != OTHER && occurs(name)) {
                span class=(format!("key {style}")) {} (name)
            }
            span class="key p-other" {} "scalar, flow and the rest"
        }
    }
}

/// Draws the share of each class in the executed instructions.
fn bar(row: &ProfileRow, executed: &Executed) -> Markup {
    let shares: Vec<Share<'_>> = ordered(executed)
        .into_iter()
        .map(|(name, count)| Share {
            name,
            style: style(name),
            amount: count as f64,
            says: count.to_string(),
        })
        .collect();
    let label = format!("What {} executes: {}", row.config, name(row));
    html! {
        figure {
            figcaption { (name(row)) " " code { (breakable(&row.config)) } }
            (share_bar::draw(&shares, executed.warp_instructions.max(1) as f64, &label))
        }
    }
}

/// The classes that occur, with their counts, in the order of the chart. Classes that are not in [`CLASSES`] come
/// last.
fn ordered(executed: &Executed) -> Vec<(&str, u64)> {
    let counts = executed.by_class.iter();
    let mut counts: Vec<(&str, u64)> = counts
        .map(|(name, count)| (name.as_str(), *count))
        .collect();
    counts.sort_by_key(|(name, _)| place(name));
    counts
}

/// The position of a class in [`CLASSES`], or the length of [`CLASSES`] if it is not there.
fn place(class: &str) -> usize {
    let known = CLASSES.iter().position(|name| *name == class);
    known.unwrap_or(CLASSES.len())
}

fn style(class: &str) -> &'static str {
    STYLES.get(place(class)).copied().unwrap_or(OTHER)
}

fn figures(profiled: &[(&ProfileRow, &Profile)]) -> Markup {
    html! {
        div class="wide" {
            table class="sortable" {
                thead { tr {
                    th class="t" { "launch" }
                    @for (name, means) in FIGURES { th class="n" title=(means) { (name) } }
                    th class="n" title="between multiprocessors and global memory, without caches" { "moved" }
                } }
                tbody {
                    @for (row, profile) in profiled {
                        tr {
                            td class="t" data-v=(name(row)) { (name(row)) (part(profile)) }
                            (cells(&profile.executed))
                            td class="n" data-v=(profile.moved_bytes) { (profile.moved()) }
                        }
                        @if let Some(hot) = &profile.hot_loop {
                            tr {
                                td class="t" data-v=(format!("{}, main loop", name(row))) {
                                    (name(row)) ", main loop"
                                    @if let Some(line) = &hot.line { " to " code { (line) } }
                                }
                                (cells(&hot.executed))
                                td class="n" {}
                            }
                        }
                        @if let Some(code) = &profile.machine_code {
                            tr {
                                td class="t" data-v=(format!("{}, machine code", name(row))) {
                                    (name(row)) ", main loop of the machine code"
                                }
                                (static_cells(code))
                                td class="n" {}
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A text that states how many blocks of the launch were executed; empty if all blocks were.
fn part(profile: &Profile) -> String {
    match profile.executed_blocks == profile.blocks {
        true => String::new(),
        false => format!(", {} of {} blocks", profile.executed_blocks, profile.blocks),
    }
}

/// The cells of a loop in machine code that was only counted, not executed.
fn static_cells(code: &MachineCode) -> Markup {
    let main = code.main_loop.as_ref();
    html! {
        td class="n" title=(code) data-v=[main.map(|main| main.instructions)] {
            @match main {
                Some(main) => (format!("{} a pass", main.instructions)),
                None => "no loop",
            }
        }
        @for per_100 in main.iter().flat_map(|main| [main.matrix_per_100, main.multiply_adds_per_100]) {
            td class="n" data-v=(per_100) { (format!("{per_100:.1}")) }
        }
        @for _ in main.map_or(1, |_| 3)..FIGURES.len() { td class="n" { "-" } }
    }
}

fn cells(executed: &Executed) -> Markup {
    html! {
        @for (value, text) in executed.figures() { td class="n" data-v=[value] { (text) } }
    }
}

fn worst(profiled: &[(&ProfileRow, &Profile)]) -> Markup {
    let costs = || {
        let all = profiled.iter();
        all.flat_map(|(row, profile)| profile.worst.iter().map(move |worst| (*row, worst)))
    };
    if costs().next().is_none() {
        return html! { p class="none" { "No access is more expensive than it must be, and no lane idles." } };
    }
    html! {
        div class="wide" {
            table class="sortable" {
                thead { tr {
                    th class="t" { "launch" } th class="t" { "cost" } th class="t" { "figures" } th class="t" { "line" }
                    th class="t" { "instruction" } th class="n" title="of the launch's whole cost of this kind" { "share" }
                } }
                tbody {
                    @for (row, worst) in costs() {
                        @let kind = worst.kind.to_string();
                        @let line = worst.line.as_ref().map_or_else(|| "no line".to_owned(), ToString::to_string);
                        tr {
                            td class="t" data-v=(name(row)) { (name(row)) }
                            td class="t" data-v=(kind) { (kind) }
                            td class="t" data-v=(worst.detail) { (worst.detail) }
                            td class="t" data-v=(line) { code { (line) } }
                            td class="t" data-v=(worst.instruction) { code { (worst.instruction) } }
                            td class="n" data-v=(worst.share_percent) { (format!("{:.0} %", worst.share_percent)) }
                        }
                    }
                }
            }
        }
    }
}
