//! Continues the confirmation of a finalist across runs. A confirmation that ran out of time resumes where it stopped.

use kiln_cache::CacheError;
use kiln_cache::record::ConfirmProcess;
use kiln_cache::{Cache, TrialId};

use crate::run::context::RunContext;
use kiln_measure::confirm::ClaimTest;
use kiln_measure::summary::median;

/// A series of confirming processes for one finalist.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    /// The number of the series among the confirmations of the finalist.
    pub number: u64,
    /// The seed of the random orders in the series.
    pub seed: u64,
    /// Number of processes of the series that have already run.
    pub processes: u32,
}

impl Series {
    /// Resumes the finalist's last series if it is unfinished; otherwise begins a new series. Returns the series, and
    /// the test with the results so far. `test` creates a test from a seed.
    ///
    /// # Errors
    /// If the cache cannot be read.
    pub fn begin(
        context: &RunContext<'_>,
        id: &TrialId,
        test: impl Fn(u64) -> ClaimTest,
    ) -> Result<(Series, ClaimTest), CacheError> {
        let last = last(context.cache, id)?;
        let number = last.first().map(|process| process.series);
        if let Some((seed, log_ratios)) = effects(&last) {
            let resumed = test(seed).resumed(&log_ratios);
            if resumed.decision().is_none() {
                let series = Series {
                    number: number.unwrap_or_default(),
                    seed,
                    processes: u32::try_from(log_ratios.len()).unwrap_or(u32::MAX),
                };
                return Ok((series, resumed));
            }
        }
        // A new series must not repeat the random orders of an earlier one.
        let runs = context.cache.runs()?.len() as u64;
        let number = number.map_or(runs, |last| runs.max(last + 1));
        let seed = context.options.seed.wrapping_add(number);
        let series = Series {
            number,
            seed,
            processes: 0,
        };
        Ok((series, test(seed)))
    }
}

/// The processes of the finalist's last series, in order.
fn last(cache: &Cache, id: &TrialId) -> Result<Vec<ConfirmProcess>, CacheError> {
    let mut own = cache.confirmations(id.key)?;
    own.retain(|process| process.config == id.config);
    let last = own.iter().map(|process| process.series).max();
    own.retain(|process| Some(process.series) == last);
    own.sort_by_key(|process| process.process);
    Ok(own)
}

/// The seed of a series, and the effect (log ratio) of each of its processes. `None` if a process is missing from the
/// series, or if the clock was not steady in one of them.
fn effects(series: &[ConfirmProcess]) -> Option<(u64, Vec<f64>)> {
    let seed = series.first()?.seed;
    let whole = (0..)
        .zip(series)
        .all(|(number, one)| one.process == number && one.seed == seed);
    let log_ratios: Option<Vec<f64>> = series.iter().map(steady_effect).collect();
    log_ratios
        .filter(|_| whole)
        .map(|log_ratios| (seed, log_ratios))
}

/// The effect of a stored process: the median log ratio of its blocks. `None` if the device's clock changed by more
/// than a hundredth, because the record does not show in which blocks it changed.
fn steady_effect(process: &ConfirmProcess) -> Option<f64> {
    let moved = |[slowest, fastest]: [u32; 2]| fastest > slowest / 100 * 101;
    if process.clock_khz.is_some_and(moved) {
        return None;
    }
    let blocks = process.block_log_ratio_ppm.iter();
    median(&blocks.map(|&ppm| ppm as f64 / 1e6).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use kiln_spec::Hash;

    use super::*;

    fn process(number: u32, seed: u64, blocks: &[i64]) -> ConfirmProcess {
        ConfirmProcess {
            key: Hash::of("key", b""),
            config: "A=1".into(),
            series: 3,
            process: number,
            seed,
            block_log_ratio_ppm: blocks.to_vec(),
            discarded_blocks: 0,
            receipt: Hash::of("receipt", b""),
            clock_khz: None,
        }
    }

    #[test]
    fn a_series_is_taken_up_with_the_median_of_each_process() {
        let series = [process(0, 9, &[-3, -1, -2]), process(1, 9, &[-5])];
        assert_eq!(effects(&series), Some((9, vec![-2e-6, -5e-6])));
    }

    #[test]
    fn a_series_with_a_gap_another_seed_or_a_clock_that_moved_is_not_taken_up() {
        let first = process(0, 9, &[-3]);
        let mut unsteady = process(1, 9, &[-3]);
        unsteady.clock_khz = Some([1_000_000, 1_020_000]);
        for second in [
            process(2, 9, &[-3]),
            process(1, 8, &[-3]),
            process(1, 9, &[]),
            unsteady,
        ] {
            assert_eq!(effects(&[first.clone(), second]), None);
        }
        assert_eq!(effects(&[]), None);
    }
}
