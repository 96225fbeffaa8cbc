//! Formats the reports of `tune bench` and `tune compare` as tables.

use std::fmt::Write as _;

use kiln_spec::time::Nanoseconds;

use super::bench::{Benched, BesideBaseline, Measured, TimingOutcome};
use super::peer::{BesidePeer, PeerOutcome};
use super::replayed;
use super::throughput::Throughput;
use super::verdict::{Compared, WatchRow, WatchVerdict};
use crate::columns::columns;

/// If there are several packages, adds a column with the package of each line, which distinguishes kernels with the
/// same name.
fn name_packages<'a>(
    lines: &mut [Vec<String>],
    column: usize,
    packages: impl Iterator<Item = &'a str> + Clone,
) {
    let first = packages.clone().next();
    if packages.clone().all(|package| Some(package) == first) {
        return;
    }
    let cells = std::iter::once("package").chain(packages);
    for (line, package) in lines.iter_mut().zip(cells) {
        line.insert(column, package.to_owned());
    }
}

fn cells<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.iter().map(|&cell| cell.to_owned()).collect()
}

/// Formats `one [low, high]`, or only `one` without an interval.
fn with_interval(one: &str, ends: Option<(String, String)>) -> String {
    ends.map_or_else(
        || one.to_owned(),
        |(low, high)| format!("{one} [{low}, {high}]"),
    )
}

/// The tables of `tune bench`, followed by notes that explain them.
pub fn of_bench(rows: &[Benched]) -> String {
    let head = [
        "kernel",
        "problem",
        "time",
        "GB/s",
        "GFLOP/s",
        "of a copy",
        "of peak",
        "over baseline",
        "launched",
    ];
    let mut lines = vec![cells(head)];
    for row in rows {
        lines.push(match &row.outcome {
            TimingOutcome::Measured(measured) => measured_line(row, measured),
            TimingOutcome::NotMeasured { reason } => reason_line(row, "not measured", reason),
            TimingOutcome::Failed { reason } => reason_line(row, "failed", reason),
        });
    }
    name_packages(&mut lines, 0, rows.iter().map(|row| row.package.as_str()));
    let mut text = columns(&lines) + &of_peers(rows);
    let measured = || {
        rows.iter().filter_map(|row| match &row.outcome {
            TimingOutcome::Measured(measured) => Some(measured),
            _ => None,
        })
    };
    if measured().any(|one| one.throughput.launch_bound) {
        text += "launch-bound: a launch that does nothing takes a quarter of the time or more; what is left says \
                 little about the kernel\n";
    }
    text += &replayed::lines(rows.iter().filter_map(|row| match &row.outcome {
        TimingOutcome::Measured(measured) => Some((
            row.kernel.as_str(),
            row.problem.as_str(),
            measured.replayed?,
        )),
        _ => None,
    }));
    if measured().any(|one| one.throughput.peak_is_bound && one.throughput.peak_percent.is_some()) {
        text += "of peak on the cpu: at least this much; the peak is a bound that no processor reaches\n";
    }
    if measured().any(|one| !one.has_reference) {
        text += "outputs of kernels marked * are compared with their baselines only: self-consistent, not verified\n";
    }
    text
}

/// The table of comparisons with peers; empty if there are none.
fn of_peers(rows: &[Benched]) -> String {
    let head = [
        "kernel",
        "problem",
        "peer",
        "calls",
        "its time",
        "the kernel's",
        "times as fast",
    ];
    let mut lines = vec![cells(head)];
    for row in rows {
        let TimingOutcome::Measured(measured) = &row.outcome else {
            continue;
        };
        lines.extend(measured.peers.iter().map(|beside| peer_line(row, beside)));
    }
    match lines.len() {
        1 => String::new(),
        _ => format!("\n{}", columns(&lines)),
    }
}

fn peer_line(row: &Benched, beside: &BesidePeer) -> Vec<String> {
    let mut line = cells([&row.kernel, &row.problem, &beside.peer]);
    match &beside.outcome {
        PeerOutcome::Measured {
            calls,
            threads,
            time,
            kernel_time,
            speedup,
            low,
            high,
        } => {
            let times = |times: f64| format!("{times:.2}");
            let ends = low.zip(*high).map(|(low, high)| (times(low), times(high)));
            let threads = if *threads > 1 {
                format!(", {threads} threads")
            } else {
                String::new()
            };
            line.extend([
                format!("{calls}{threads}"),
                Nanoseconds(time.median_ns).to_string(),
                Nanoseconds(kernel_time.median_ns).to_string(),
                with_interval(&in_words(*speedup, ends.is_some()), ends),
            ]);
        }
        PeerOutcome::Unsupported { reason } => line.push(format!("not compared: {reason}")),
        PeerOutcome::NotMeasured { reason } => line.push(format!("not measured: {reason}")),
        PeerOutcome::Failed { reason } => {
            let first = reason.lines().next().unwrap_or_default();
            line.push(format!("failed: {first}"));
        }
    }
    line
}

fn reason_line(row: &Benched, state: &str, reason: &str) -> Vec<String> {
    let first = reason.lines().next().unwrap_or_default();
    cells([&row.kernel, &row.problem, &format!("{state}: {first}")])
}

fn measured_line(row: &Benched, measured: &Measured) -> Vec<String> {
    let Throughput {
        gb_per_s,
        gflop_per_s,
        ..
    } = measured.throughput;
    let time = measured.time;
    let ns = |ns: u64| Nanoseconds(ns).to_string();
    let ends = time
        .low_ns
        .zip(time.high_ns)
        .map(|(low, high)| (ns(low), ns(high)));
    let rate = |rate: Option<f64>| rate.map_or("-".into(), |rate| format!("{rate:.3}"));
    let mark = if measured.has_reference { "" } else { " *" };
    vec![
        format!("{}{mark}", row.kernel),
        row.problem.clone(),
        with_interval(&ns(time.median_ns), ends),
        rate(gb_per_s),
        rate(gflop_per_s),
        measured
            .throughput
            .copy_percent
            .map_or("-".into(), |percent| format!("{percent:.0} %")),
        peak(&measured.throughput),
        measured
            .baseline
            .as_ref()
            .map_or("is the baseline".into(), over_baseline),
        format!("{} ({})", row.config, row.selection),
    ]
}

fn peak(throughput: &Throughput) -> String {
    if throughput.launch_bound {
        let percent = throughput.launch_percent.unwrap_or_default();
        return format!("launch-bound ({percent:.0} %)");
    }
    let at_least = if throughput.peak_is_bound { ">= " } else { "" };
    throughput
        .peak_percent
        .map_or("-".into(), |percent| format!("{at_least}{percent:.2} %"))
}

/// A ratio as text. If there is no interval, a note says that too few processes ran.
fn in_words(times: f64, has_interval: bool) -> String {
    let note = if has_interval {
        ""
    } else {
        " (too few processes)"
    };
    format!("{times:.2}x{note}")
}

fn over_baseline(beside: &BesideBaseline) -> String {
    let times = |ratio: f64| format!("{ratio:.2}");
    let ends = beside
        .low
        .zip(beside.high)
        .map(|(low, high)| (times(low), times(high)));
    with_interval(&in_words(beside.speedup, ends.is_some()), ends)
}

/// The table of compared kernels, followed by the number of rows per verdict.
pub fn of_comparison(rows: &[WatchRow]) -> String {
    let head = [
        "verdict",
        "kernel",
        "problem",
        "now / then",
        "then",
        "now",
        "processes",
        "why",
    ];
    let mut lines = vec![cells(head)];
    lines.extend(rows.iter().map(compared_line));
    name_packages(&mut lines, 1, rows.iter().map(|row| row.package.as_str()));
    let mut text = columns(&lines);
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for row in rows {
        let name = row.verdict.name();
        match counts.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let counts: Vec<_> = counts
        .iter()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    let _ = writeln!(text, "{}", counts.join(", "));
    text
}

fn compared_line(row: &WatchRow) -> Vec<String> {
    let failing = if row.fails { " (fails)" } else { "" };
    let verdict = format!("{}{failing}", row.verdict.name());
    let measured = row.measured.as_deref();
    let median = |time: Option<kiln_measure::Quartiles>| {
        time.map_or("-".into(), |time| Nanoseconds(time.median_ns).to_string())
    };
    vec![
        verdict,
        row.kernel.clone(),
        row.problem.clone(),
        measured.map_or("-".into(), ratio),
        measured.map_or("-".into(), |one| median(one.then.time)),
        measured.map_or("-".into(), |one| median(one.now.time)),
        measured.map_or("-".into(), |one| one.processes.to_string()),
        row.reason.lines().next().unwrap_or_default().to_owned(),
    ]
}

fn ratio(compared: &Compared) -> String {
    let Some(ratio) = compared.ratio else {
        return "-".into();
    };
    let ends = compared.interval.map(|interval| {
        (
            format!("{:.3}", interval.low),
            format!("{:.3}", interval.high),
        )
    });
    with_interval(&format!("{ratio:.3}"), ends)
}

/// A sentence that says why a row fails.
pub fn why_it_fails(row: &WatchRow, fail_above: Option<f64>) -> String {
    let name = format!("{} ({})", row.kernel, row.problem);
    match (row.verdict, fail_above, &row.measured) {
        (WatchVerdict::Slower, Some(share), Some(measured)) => format!(
            "{name} is proven slower: it takes {} times as long, and {:.1} % more is not excluded; {}",
            ratio(measured),
            share * 100.0,
            row.reason
        ),
        (verdict, _, _) => format!("{name}: {}: {}", verdict.name(), row.reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_if_there_are_several() {
        let table = |packages: [&str; 2]| {
            let mut lines = vec![cells(["kernel"]), cells(["gemm"]), cells(["gemm"])];
            name_packages(&mut lines, 0, packages.into_iter());
            columns(&lines)
        };
        assert_eq!(table(["a", "a"]), "kernel\ngemm\ngemm\n");
        assert_eq!(
            table(["a", "b"]),
            "package  kernel\na        gemm\nb        gemm\n"
        );
    }
}
