//! Summaries of samples, in integer nanoseconds.

use super::sample::Sample;
use serde::{Deserialize, Serialize};

/// The quartiles of some samples, in nanoseconds per launch. No sample is dropped as an outlier, because the median is
/// robust, and because the result should show whether a kernel has two speeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quartiles {
    /// The number of samples.
    pub samples: u32,
    /// The shortest time.
    pub min_ns: u64,
    /// The lower quartile.
    pub q1_ns: u64,
    /// The median.
    pub median_ns: u64,
    /// The upper quartile.
    pub q3_ns: u64,
    /// The longest time.
    pub max_ns: u64,
}

impl Quartiles {
    /// Summarises samples; `None` if there are none.
    pub fn of(samples: &[Sample]) -> Option<Self> {
        Self::of_launches(samples.iter().map(Sample::launch_ns).collect())
    }

    /// Summarises times of one launch each, in nanoseconds; `None` if there are none.
    pub fn of_launches(mut times_ns: Vec<u64>) -> Option<Self> {
        times_ns.sort_unstable();
        let (first, last) = (*times_ns.first()?, *times_ns.last()?);
        Some(Self {
            samples: u32::try_from(times_ns.len()).unwrap_or(u32::MAX),
            min_ns: first,
            q1_ns: quantile(&times_ns, 1),
            median_ns: quantile(&times_ns, 2),
            q3_ns: quantile(&times_ns, 3),
            max_ns: last,
        })
    }

    /// The interquartile range (`q3_ns` minus `q1_ns`), in nanoseconds.
    pub fn iqr_ns(&self) -> u64 {
        self.q3_ns - self.q1_ns
    }
}

/// The `quarters`/4 quantile of sorted times, interpolated between neighbours and rounded down (type 7 of R's
/// `quantile`, in integers). The slice must not be empty.
fn quantile(sorted_ns: &[u64], quarters: usize) -> u64 {
    let position = (sorted_ns.len() - 1) * quarters;
    let (low, part) = (position / 4, (position % 4) as u64);
    let here = sorted_ns[low];
    let next = sorted_ns.get(low + 1).copied().unwrap_or(here);
    here + mul_quarters(next - here, part)
}

/// `span * part / 4` without overflow.
fn mul_quarters(span: u64, part: u64) -> u64 {
    (span / 4) * part + (span % 4) * part / 4
}

/// The median of finite numbers; for an even number of them, the mean of the middle two. `None` if there are none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some((sorted[middle - 1] + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quartiles_of_five_launches_are_the_launches_themselves() {
        let summary = Quartiles::of_launches(vec![50, 10, 40, 20, 30]).unwrap();
        let got = (
            summary.min_ns,
            summary.q1_ns,
            summary.median_ns,
            summary.q3_ns,
            summary.max_ns,
        );
        assert_eq!(got, (10, 20, 30, 40, 50));
    }

    #[test]
    fn no_samples_have_no_summary() {
        assert_eq!(Quartiles::of(&[]), None);
    }

    #[test]
    fn a_sample_of_many_launches_counts_as_its_mean_launch() {
        let summary = Quartiles::of(&[Sample::new(1_000, 3)]).unwrap();
        assert_eq!(summary.median_ns, 333);
    }

    proptest! {
        #[test]
        fn a_summary_is_ordered_and_within_its_samples(times in prop::collection::vec(any::<u64>(), 1..50)) {
            let summary = Quartiles::of_launches(times.clone()).unwrap();
            prop_assert_eq!(summary.min_ns, *times.iter().min().unwrap());
            prop_assert_eq!(summary.max_ns, *times.iter().max().unwrap());
            prop_assert!(summary.min_ns <= summary.q1_ns && summary.q1_ns <= summary.median_ns);
            prop_assert!(summary.median_ns <= summary.q3_ns && summary.q3_ns <= summary.max_ns);
            let below = times.iter().filter(|&&t| t <= summary.median_ns).count();
            prop_assert!(2 * below >= times.len());
        }
    }
}
