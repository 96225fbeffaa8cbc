//! Zero-phase FIR filters on the host, in double precision.

/// Sample `n` of a signal that is extended by odd reflection at both ends.
fn reflected(signal: &[f32], n: i64) -> f64 {
    let last = signal.len() as i64 - 1;
    let at = |n: i64| f64::from(signal[n as usize]);
    if n < 0 {
        2.0 * at(0) - at((-n).min(last))
    } else if n > last {
        2.0 * at(last) - at((2 * last - n).max(0))
    } else {
        at(n)
    }
}

/// Filters every channel with every band's filter. The arguments have the same shapes as in [`super::fir_bandpass()`].
///
/// # Panics
/// If a slice is shorter than its shape.
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn fir_bandpass(
    channels: u32,
    samples: u32,
    bands: u32,
    reach: u32,
    signal: &[f32],
    reaches: &[u32],
    taps: &[f32],
    filtered: &mut [f64],
) {
    let samples = samples as usize;
    let mut to = filtered.chunks_exact_mut(samples);
    let bands = reaches[..bands as usize]
        .iter()
        .zip(taps.chunks_exact(reach as usize + 1));
    for (&own_reach, taps) in bands {
        for signal in signal.chunks_exact(samples).take(channels as usize) {
            let filtered = to.next().expect("a row for every band and channel");
            for (n, y) in filtered.iter_mut().enumerate() {
                let around = |k: usize| {
                    let (n, k) = (n as i64, k as i64);
                    reflected(signal, n + k) + reflected(signal, n - k)
                };
                let sides = (1..=own_reach.min(reach) as usize)
                    .map(|k| f64::from(taps[k]) * around(k))
                    .sum::<f64>();
                *y = f64::from(taps[0]) * f64::from(signal[n]) + sides;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_mirrored_and_the_signal_goes_on_through_its_ends() {
        // The signal 1 2 4 is preceded by 0 (2 * 1 - 2) and followed by 6 (2 * 4 - 2).
        let mut filtered = [f64::NAN; 3];
        fir_bandpass(
            1,
            3,
            1,
            2,
            &[1.0, 2.0, 4.0],
            &[1],
            &[10.0, 1.0, 99.0],
            &mut filtered,
        );
        assert_eq!(filtered, [10.0 + 2.0, 20.0 + 5.0, 40.0 + 8.0]);
    }

    #[test]
    fn a_signal_shorter_than_its_filter_ends_in_its_other_end() {
        let mut filtered = [f64::NAN; 2];
        // The two samples before the signal are 2 - 3 and 2 - 3, and the two after it are 6 - 1 and 6 - 1.
        fir_bandpass(
            1,
            2,
            1,
            2,
            &[1.0, 3.0],
            &[2],
            &[0.0, 1.0, 1.0],
            &mut filtered,
        );
        assert_eq!(filtered, [3.0 - 1.0 + 5.0 - 1.0, 5.0 + 1.0 + 5.0 - 1.0]);
    }
}
