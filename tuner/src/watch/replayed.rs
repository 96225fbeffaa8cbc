//! Measures how much time a program can save if it records the launches of a launch-bound kernel and replays the
//! recording. A sequence of launches is timed with the host's clock, once queued one by one and once replayed from a
//! `kiln::Graph`.

use std::fmt::Write as _;
use std::time::Duration;

use kiln::rig::HostPace;
use kiln_spec::time::Nanoseconds;
use serde::Serialize;

use super::error::WatchError;
use super::stage::Scene;
use kiln_lab::worker::{ArmJob, Reply, Request, Worker};
use kiln_measure::interval::median_interval;
use kiln_measure::summary::median;

/// Number of launches in a sequence. It is about the number of kernels that a program launches in one step.
const LAUNCHES: u32 = 20;

/// Number of pairs of measurements: one of launches that are queued one by one, and one of a replay.
const PAIRS: usize = 41;

/// Time limit for opening a worker, and for the measurement.
const DEADLINE: Duration = Duration::from_secs(30);

/// The times of a sequence of launches, queued one by one and replayed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReplayedLaunches {
    /// Number of launches in the sequence.
    pub launches: u32,
    /// Median time of one launch in nanoseconds, if launches are queued one by one.
    pub one_by_one_ns: u64,
    /// Median time of one launch in nanoseconds, if all launches are replayed from a recording.
    pub replayed_ns: u64,
    /// How many times as fast replaying is, in the median pair.
    pub times_as_fast: f64,
    /// The lower end of the 95 % interval of `times_as_fast`, over the pairs of one process.
    pub low: f64,
    /// The upper end of that interval.
    pub high: f64,
}

impl ReplayedLaunches {
    /// Computes the result from pairs of sequences with `launches` launches each; `None` if there are too few pairs.
    fn of(pairs: &[HostPace], launches: u32) -> Option<ReplayedLaunches> {
        let ratio =
            |pair: &HostPace| pair.one_by_one_ns.max(1) as f64 / pair.replayed_ns.max(1) as f64;
        let logs: Vec<f64> = pairs.iter().map(|pair| ratio(pair).ln()).collect();
        let interval = median_interval(&logs)?;
        let each = |of: fn(&HostPace) -> u64| -> Option<u64> {
            let times: Vec<f64> = pairs.iter().map(|pair| of(pair) as f64).collect();
            Some((median(&times)? / f64::from(launches.max(1))).round() as u64)
        };
        Some(ReplayedLaunches {
            launches,
            one_by_one_ns: each(|pair| pair.one_by_one_ns)?,
            replayed_ns: each(|pair| pair.replayed_ns)?,
            times_as_fast: median(&logs)?.exp(),
            low: interval.low,
            high: interval.high,
        })
    }

    /// Whether replaying is proven to be faster, because the interval is above 1.
    pub fn helps(&self) -> bool {
        self.low > 1.0
    }
}

/// Measures a verified arm both ways. Returns `None` if the device cannot record launches.
///
/// # Errors
/// If the worker fails.
pub fn replayed(scene: &Scene<'_>, arm: &ArmJob) -> Result<Option<ReplayedLaunches>, WatchError> {
    let bench = scene.bench();
    let mut worker = Worker::spawn(&bench.worker)?;
    let mut job = bench.job(vec![arm.clone()]);
    job.timed = true;
    let open = Request::Open(Box::new(job));
    worker.ask(&open, DEADLINE)?;
    let request = Request::HostPace {
        arm: 0,
        launches: LAUNCHES,
        pairs: PAIRS,
    };
    match worker.ask(&request, DEADLINE)? {
        Reply::HostPace(pairs) => {
            Ok(pairs.and_then(|pairs| ReplayedLaunches::of(&pairs, LAUNCHES)))
        }
        _ => Err(WatchError::OutOfTurn {
            asked: "the pace of launches",
        }),
    }
}

/// Formats one line per measured kernel and problem, and advice if replaying is faster for any of them.
pub fn lines<'a>(rows: impl Iterator<Item = (&'a str, &'a str, ReplayedLaunches)>) -> String {
    let mut text = String::new();
    let mut helps = false;
    for (kernel, problem, replayed) in rows {
        helps |= replayed.helps();
        // Writing to a string does not fail.
        let _ = writeln!(text, "{kernel} ({problem}): {}", in_words(&replayed));
    }
    if helps {
        text += "help: launches that are repeated are faster recorded in a `kiln::Graph`, see docs/measuring.md\n";
    }
    text
}

fn in_words(replayed: &ReplayedLaunches) -> String {
    format!(
        "{} launches in a row take {} each one by one, {} each replayed from a `kiln::Graph`: {:.2}x [{:.2}, {:.2}] as fast",
        replayed.launches,
        Nanoseconds(replayed.one_by_one_ns),
        Nanoseconds(replayed.replayed_ns),
        replayed.times_as_fast,
        replayed.low,
        replayed.high,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaying_is_advised_only_where_it_is_proven_to_help() {
        let said = |replayed| lines([("gelu", "n=1", replayed)].into_iter());
        let text = said(ReplayedLaunches::of(&pairs(80_000, 20_000), 20).unwrap());
        let words = "gelu (n=1): 20 launches in a row take 4 µs each one by one, 1 µs each replayed from a `kiln::Graph`: 4.00x [4.00, 4.00] as fast\n";
        assert!(text.starts_with(words), "{text}");
        assert!(text.contains("help: "), "{text}");
        let text = said(ReplayedLaunches::of(&pairs(20_000, 20_000), 20).unwrap());
        assert!(text.contains("1.00x") && !text.contains("help: "), "{text}");
        assert_eq!(lines([].into_iter()), "");
    }

    fn pairs(one_by_one_ns: u64, replayed_ns: u64) -> Vec<HostPace> {
        let pair = HostPace {
            one_by_one_ns,
            replayed_ns,
        };
        vec![pair; PAIRS]
    }

    #[test]
    fn a_row_is_reported_by_the_launch() {
        let replayed = ReplayedLaunches::of(&pairs(80_000, 20_000), 20).unwrap();
        assert_eq!(
            (replayed.one_by_one_ns, replayed.replayed_ns),
            (4_000, 1_000)
        );
        assert!((replayed.times_as_fast - 4.0).abs() < 1e-9 && replayed.helps());
    }

    #[test]
    fn what_is_not_faster_is_not_said_to_help_and_a_few_pairs_say_nothing() {
        assert!(
            !ReplayedLaunches::of(&pairs(20_000, 20_000), 20)
                .unwrap()
                .helps()
        );
        let mut mixed = pairs(20_000, 10_000);
        mixed.extend(pairs(10_000, 20_000));
        assert!(!ReplayedLaunches::of(&mixed, 20).unwrap().helps());
        assert_eq!(ReplayedLaunches::of(&pairs(20, 10)[..5], 20), None);
    }
}
