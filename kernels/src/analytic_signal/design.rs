//! Computes the taps of the Hilbert transform.
//!
//! The transform that an FFT of an even `period` computes is a circular convolution with `2 / period * cot(pi d /
//! period)` at odd distances `d` (Marple, "Computing the discrete-time analytic signal via FFT", 1999). If the taps
//! at large distances are left out, a Kaiser window keeps the error small for all frequencies except the lowest and
//! the highest (Oppenheim and Schafer, *Discrete-Time Signal Processing*, "Design of FIR filters using the Kaiser
//! window").

use std::f64::consts::PI;

/// Stop-band attenuation of the window in decibels. With it, errors are at most a ten-thousandth of the signal.
const DECIBELS: f64 = 80.0;

/// The smallest even number that is at least `samples` and has no prime factor above 5. FFTs of such lengths are
/// fast.
pub fn period(samples: usize) -> usize {
    let is_smooth = |n: &usize| {
        let rest = [2, 3, 5].iter().fold(*n, |mut rest, prime| {
            while rest % prime == 0 {
                rest /= prime;
            }
            rest
        });
        rest == 1
    };
    let even = samples.max(2).next_multiple_of(2);
    (even..).step_by(2).find(is_smooth).unwrap_or(even)
}

/// The number of taps that the transform needs for all frequencies from `lowest` Hz up to half the sampling rate minus
/// `lowest` Hz; at most [`all`]. Each tap belongs to a pair of samples: one before and one after, at the same distance.
pub fn pairs(period: usize, lowest: f64, sampling_rate: f64) -> usize {
    // The main lobe of the window reaches from -lowest to lowest, across the sign change at zero.
    let width = 2.0 * PI * 2.0 * lowest / sampling_rate;
    let length = (DECIBELS - 7.95) / (2.285 * width) + 1.0;
    ((length / 4.0).ceil() as usize).clamp(1, all(period))
}

/// The number of taps of the complete transform, from which no tap is left out.
pub fn all(period: usize) -> usize {
    (period / 2).div_ceil(2).max(1)
}

/// The first `pairs` taps, at the distances 1, 3, 5 and so on. If these are not all taps, they are multiplied by the
/// Kaiser window.
pub fn taps(period: usize, pairs: usize) -> Vec<f64> {
    let beta = 0.1102 * (DECIBELS - 8.7);
    let window = |distance: f64| {
        if pairs >= all(period) {
            return 1.0;
        }
        let place = distance / (2.0 * pairs as f64);
        bessel_i0(beta * (1.0 - place * place).sqrt()) / bessel_i0(beta)
    };
    let tap = |k: usize| {
        let distance = (2 * k + 1) as f64;
        2.0 / (period as f64 * (PI * distance / period as f64).tan()) * window(distance)
    };
    (0..pairs).map(tap).collect()
}

/// The modified Bessel function of the first kind of order zero, by its power series.
fn bessel_i0(x: f64) -> f64 {
    let mut term = 1.0;
    let mut sum = 1.0;
    for k in 1..64 {
        term *= (x / 2.0 / f64::from(k)).powi(2);
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_even_and_have_small_factors() {
        assert_eq!([1, 7, 512, 513, 675].map(period), [2, 8, 512, 540, 720]);
    }

    #[test]
    fn the_whole_transform_of_a_period_of_four_is_one_tap() {
        // The only tap is cot(pi / 4) * 2 / 4.
        assert_eq!(all(4), 1);
        assert!((taps(4, 1)[0] - 0.5).abs() < 1e-15);
    }

    #[test]
    fn fewer_taps_turn_every_frequency_from_the_lowest_on_by_a_quarter() {
        let period = 30_720;
        let pairs = pairs(period, 2.0, 512.0);
        assert!(pairs < 200, "{pairs}");
        let taps = taps(period, pairs);
        // The response at frequency f is 2 sum taps sin(2 pi f d). It should be 1.
        for frequency in [2.0, 3.3, 11.0, 100.0, 250.0] {
            let parts = taps.iter().enumerate().map(|(k, tap)| {
                2.0 * tap * (2.0 * PI * frequency / 512.0 * (2 * k + 1) as f64).sin()
            });
            let gain: f64 = parts.sum();
            assert!((gain - 1.0).abs() < 3e-4, "{frequency}: {gain}");
        }
    }
}
