//! Designs band-pass filters with the window method, for filtering forwards and backwards.
//!
//! `fir1` in MATLAB and Octave uses this method, and EEGLAB's `eegfilt` and TensorPAC use `fir1`. The impulse response
//! of the ideal filter is truncated and multiplied by a Hamming window (Oppenheim and Schafer, *Discrete-Time Signal
//! Processing*, "Design of FIR filters by windowing"). Filtering forwards and then backwards (`filtfilt`) preserves
//! phases. It is equivalent to one convolution with the filter's autocorrelation, which [`zero_phase`] returns.

use std::f64::consts::PI;

/// The filter order for a band that begins at `low` Hz. The order is the number of samples in `cycles` cycles of `low`,
/// or a third of the signal's length if that is shorter.
pub fn order(sampling_rate: f64, samples: usize, low: f64, cycles: u32) -> usize {
    let order = f64::from(cycles) * (sampling_rate / low).floor();
    if (samples as f64) < 3.0 * order {
        samples.saturating_sub(1) / 3
    } else {
        order as usize
    }
}

/// The `order + 1` taps of a band-pass filter from `low` to `high` Hz. The gain is 1 in the middle of the band.
pub fn bandpass(order: usize, low: f64, high: f64, sampling_rate: f64) -> Vec<f64> {
    let middle = order as f64 / 2.0;
    // The impulse response of the ideal low-pass filter up to f, in cycles per sample, is 2 f sinc(2 f t).
    let low_pass = |f: f64, t: f64| {
        let angle = 2.0 * PI * f * t;
        2.0 * f
            * if angle == 0.0 {
                1.0
            } else {
                angle.sin() / angle
            }
    };
    let hamming = |i: usize| 0.54 - 0.46 * (2.0 * PI * i as f64 / order.max(1) as f64).cos();
    let (low, high) = (low / sampling_rate, high / sampling_rate);
    let mut taps: Vec<f64> = (0..=order)
        .map(|i| {
            let t = i as f64 - middle;
            (low_pass(high, t) - low_pass(low, t)) * hamming(i)
        })
        .collect();
    let gain = gain(&taps, (low + high) / 2.0);
    taps.iter_mut().for_each(|tap| *tap /= gain);
    taps
}

/// The gain of a filter for a sine with this number of cycles per sample.
fn gain(taps: &[f64], frequency: f64) -> f64 {
    let parts = taps.iter().enumerate().map(|(i, tap)| {
        let (sin, cos) = (2.0 * PI * frequency * i as f64).sin_cos();
        (tap * cos, tap * sin)
    });
    let (re, im) = parts.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    f64::hypot(re, im)
}

/// The autocorrelation of `taps` at the distances 0, 1, 2 and so on. Because the autocorrelation is symmetric, this is
/// one half, from the middle outwards, of the filter that is equivalent to filtering forwards and then backwards.
pub fn zero_phase(taps: &[f64]) -> Vec<f64> {
    let product = |k: usize| taps.iter().zip(&taps[k..]).map(|(a, b)| a * b).sum();
    (0..taps.len()).map(product).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_autocorrelation_of_two_taps_is_worked_out_by_hand() {
        assert_eq!(zero_phase(&[2.0, 3.0]), [13.0, 6.0]);
    }

    #[test]
    fn a_band_passes_its_middle_and_stops_what_is_far_from_it() {
        let taps = bandpass(300, 8.0, 12.0, 512.0);
        assert_eq!(taps.len(), 301);
        assert!((gain(&taps, 10.0 / 512.0) - 1.0).abs() < 1e-12);
        assert!(gain(&taps, 2.0 / 512.0) < 5e-3);
        assert!(gain(&taps, 30.0 / 512.0) < 5e-3);
        assert!((0..150).all(|i| (taps[i] - taps[300 - i]).abs() < 1e-15));
    }

    #[test]
    fn orders_are_cycles_of_the_lowest_frequency() {
        assert_eq!(order(512.0, 30_720, 2.0, 3), 768);
        assert_eq!(order(512.0, 30_720, 60.0, 6), 48);
        assert_eq!(order(512.0, 512, 2.0, 3), 170);
    }
}
