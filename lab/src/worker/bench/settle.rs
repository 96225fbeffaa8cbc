//! Launches a kernel repeatedly until the clock of the GPU has settled.
//!
//! An idle GPU runs at a fraction of its clock frequency and takes tens of milliseconds to raise it. In a comparison,
//! the order of the samples cancels this effect, but the reported times would be longer than the times on a busy GPU.

use kiln_cache::Outcome;

use kiln_measure::Sample;
use kiln_measure::span::MAX_LAUNCHES;

/// Approximate duration of one probe (a timed sample of launches), in nanoseconds.
const PROBE_NS: u64 = 10_000_000;

/// Number of consecutive probes that must agree.
const AGREEING: usize = 3;

/// Probes agree if the slowest takes at most this many times as long as the fastest.
const AGREED: f64 = 1.01;

/// Maximum time to wait for a clock that does not settle, in nanoseconds.
const MAX_NS: u64 = 300_000_000;

/// Launches a kernel until [`AGREEING`] consecutive probes agree. `time` launches the kernel the specified number of
/// times and returns the sample.
pub(super) fn settle(mut time: impl FnMut(u32) -> Result<Sample, Outcome>) -> Result<(), Outcome> {
    let (mut launches, mut spent_ns) = (1, 0_u64);
    let mut probes: Vec<f64> = Vec::new();
    while spent_ns < MAX_NS && !agree(&probes) {
        let probe = time(launches)?;
        spent_ns = spent_ns.saturating_add(probe.span_ns);
        if probe.span_ns >= PROBE_NS / 2 {
            probes.push(probe.log_ns().exp());
        } else if launches == MAX_LAUNCHES {
            // The launch is too short for a sample of any length. The code that determines the launches per sample
            // reports this later.
            break;
        } else {
            launches = more(&probe);
        }
    }
    Ok(())
}

/// The number of launches for the next probe, estimated from a probe that was too short.
fn more(probe: &Sample) -> u32 {
    let launches = u64::from(probe.launches);
    let wanted = (PROBE_NS * launches).div_ceil(probe.span_ns.max(1));
    let wanted = wanted.min(launches * 10).min(MAX_LAUNCHES.into());
    u32::try_from(wanted).unwrap_or(MAX_LAUNCHES)
}

fn agree(probes: &[f64]) -> bool {
    let Some(last) = probes.last_chunk::<AGREEING>() else {
        return false;
    };
    let slowest = last.iter().copied().fold(0.0, f64::max);
    last.iter().all(|probe| slowest <= probe * AGREED)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a GPU on which a launch takes `launch_ns(t)` after `t` busy nanoseconds. Returns how long the GPU was
    /// busy.
    fn busy_ns(launch_ns: impl Fn(u64) -> u64) -> u64 {
        let mut busy_ns = 0;
        settle(|launches| {
            let span_ns = launch_ns(busy_ns) * u64::from(launches);
            busy_ns += span_ns;
            Ok(Sample::new(span_ns, launches))
        })
        .unwrap();
        busy_ns
    }

    #[test]
    fn a_clock_at_rest_takes_three_probes() {
        let busy = busy_ns(|_| 20_000);
        assert!((30_000_000..60_000_000).contains(&busy), "{busy}");
    }

    #[test]
    fn a_clock_that_rises_is_waited_for() {
        // The clock rises from 345 MHz to 1,980 MHz within 150 ms.
        let rising =
            |busy_ns: u64| 20_000 * 1_980 / (345 + busy_ns.min(150_000_000) * 1_635 / 150_000_000);
        let busy = busy_ns(rising);
        assert!((150_000_000..=MAX_NS).contains(&busy), "{busy}");
    }

    #[test]
    fn a_clock_that_never_rests_and_a_launch_of_no_time_end_it_all_the_same() {
        let unsteady = |busy_ns: u64| 20_000 + busy_ns / 5_000_000 % 2 * 10_000;
        assert!(busy_ns(unsteady) < 2 * MAX_NS);
        assert_eq!(busy_ns(|_| 0), 0);
    }

    #[test]
    fn a_launch_of_a_second_is_launched_once() {
        assert_eq!(busy_ns(|_| 1_000_000_000), 1_000_000_000);
    }
}
