//! The page of profiles, as counted by `tune inspect --profile`.

use kiln_exchange::profiles::{Executed, Profile, ProfileRow};
use maud::{Markup, html};

use super::page::document;
use super::svg::{WIDTH, breakable, short};

/// The classes of instructions, in the order in which they are drawn, each with its class in the page's style.
const CLASSES: [(&str, &str); 12] = [
    ("matrix", "p-confirm"),
    ("multiply-add", "p-race"),
    ("vector", "p-verify"),
    ("exchange", "g-refused"),
    ("shared memory", "p-compile"),
    ("global memory", "p-strategy"),
    ("asynchronous copy", "g-lost"),
    ("private memory", "g-wrong"),
    ("scalar", "p-other"),
    ("scalar memory", "p-other"),
    ("flow", "p-other"),
    ("barrier", "p-other"),
];

/// The headings of the figures of a launch or a loop.
const HEADINGS: [(&str, &str); 8] = [
    ("executed", "warp instructions"),
    (
        "matrix/100",
        "matrix instructions per 100 warp instructions",
    ),
    (
        "fma/100",
        "fused multiply-adds of f32 per 100 warp instructions",
    ),
    (
        "sectors/request",
        "sectors of 32 bytes per access of a warp to global memory",
    ),
    (
        "sector use",
        "bytes that lanes asked for, of those in the sectors",
    ),
    (
        "conflicts/request",
        "additional cycles per access to shared memory",
    ),
    ("lanes/32", "lanes that take part in an instruction"),
    ("private", "accesses to private memory: most are spills"),
];

/// Some profiles as one HTML page that needs nothing else.
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

/// The rows of each kernel and problem, in the order of their first rows.
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

/// The name of a row in charts and tables.
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
            @for (name, style) in CLASSES.iter().filter(|(name, style)| *style != "p-other" && occurs(name)) {
                span class=(format!("key {style}")) {} (name)
            }
            span class="key p-other" {} "scalar, flow and the rest"
        }
    }
}

/// The share of each class in what a launch executed.
fn bar(row: &ProfileRow, executed: &Executed) -> Markup {
    const HEIGHT: f64 = 22.0;
    let all = executed.warp_instructions.max(1) as f64;
    let mut from = 0.0;
    let mut parts = Vec::new();
    for (name, count) in ordered(executed) {
        let width = WIDTH * count as f64 / all;
        parts.push((name, style(name), count, from, width));
        from += width;
    }
    let label = format!("What {} executes: {}", row.config, name(row));
    html! {
        figure {
            figcaption { (name(row)) " " code { (breakable(&row.config)) } }
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) class="bar" role="img" aria-label=(label) {
                @for (name, style, count, x, width) in parts {
                    rect class=(style) x=(short(x)) y="0" width=(short(width)) height=(HEIGHT) {
                        title { (name) ": " (count) " (" (format!("{:.1} %", 100.0 * count as f64 / all)) ")" }
                    }
                    @if width > 7.0 * name.len() as f64 + 12.0 {
                        text class=(format!("inbar on-{style}")) x=(short(x + 6.0)) y="15" { (name) }
                    }
                }
            }
        }
    }
}

/// The classes that occur, in the order of the chart; those that it does not know come last.
fn ordered(executed: &Executed) -> Vec<(&str, u64)> {
    let place = |name: &str| CLASSES.iter().position(|(known, _)| *known == name);
    let counts = executed.by_class.iter();
    let mut counts: Vec<(&str, u64)> = counts
        .map(|(name, count)| (name.as_str(), *count))
        .collect();
    counts.sort_by_key(|(name, _)| place(name).unwrap_or(CLASSES.len()));
    counts
}

fn style(class: &str) -> &'static str {
    let known = CLASSES.iter().find(|(name, _)| *name == class);
    known.map_or("p-other", |(_, style)| style)
}

fn figures(profiled: &[(&ProfileRow, &Profile)]) -> Markup {
    html! {
        div class="wide" {
            table class="sortable" {
                thead { tr {
                    th class="t" { "launch" }
                    @for (name, means) in HEADINGS { th class="n" title=(means) { (name) } }
                    th class="n" title="between multiprocessors and global memory, without caches" { "moved" }
                } }
                tbody {
                    @for (row, profile) in profiled {
                        tr {
                            td class="t" data-v=(name(row)) { (name(row)) (part(profile)) }
                            (cells(&profile.executed))
                            td class="n" data-v=(profile.moved_bytes) { (moved(profile)) }
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
                    }
                }
            }
        }
    }
}

/// Which part of a launch was executed, unless it was all of it.
fn part(profile: &Profile) -> String {
    match profile.executed_blocks == profile.blocks {
        true => String::new(),
        false => format!(", {} of {} blocks", profile.executed_blocks, profile.blocks),
    }
}

fn cells(executed: &Executed) -> Markup {
    let cell = |value: Option<f64>, digits: usize, unit: &str| {
        html! {
            td class="n" data-v=[value] {
                @match value {
                    Some(value) => { (format!("{value:.digits$}{unit}")) },
                    None => "-",
                }
            }
        }
    };
    html! {
        td class="n" data-v=(executed.warp_instructions) { (executed.warp_instructions) }
        (cell(Some(executed.matrix_per_100), 1, ""))
        (cell(Some(executed.multiply_adds_per_100), 1, ""))
        (cell(executed.sectors_per_request, 1, ""))
        (cell(executed.sector_use_percent, 0, " %"))
        (cell(executed.conflicts_per_request, 2, ""))
        (cell(Some(executed.active_lanes), 1, ""))
        td class="n" data-v=(executed.private_requests) { (executed.private_requests) }
    }
}

fn moved(profile: &Profile) -> String {
    let mib = profile.moved_bytes / f64::from(1 << 20);
    match profile.moved_over_least {
        Some(ratio) => format!("{mib:.1} MiB, {ratio:.1} times the least"),
        None => format!("{mib:.1} MiB"),
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
