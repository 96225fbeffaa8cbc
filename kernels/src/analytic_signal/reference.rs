//! The analytic signal on the host, in double precision.

/// Computes the phase and amplitude of every row. The arguments have the same shapes as in
/// [`super::analytic_signal()`].
///
/// # Panics
/// If a slice is shorter than its shape.
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn analytic_signal(
    _rows: u32,
    samples: u32,
    period: u32,
    pairs: u32,
    signal: &[f32],
    taps: &[f32],
    phase: &mut [f64],
    amp: &mut [f64],
) {
    let samples = samples as usize;
    let period = (period as usize).max(samples);
    let rows = signal.chunks_exact(samples);
    let to = phase
        .chunks_exact_mut(samples)
        .zip(amp.chunks_exact_mut(samples));
    for (signal, (phase, amp)) in rows.zip(to) {
        let at = |n: i64| {
            let place = n.rem_euclid(period as i64) as usize;
            signal.get(place).map_or(0.0, |&x| f64::from(x))
        };
        for n in 0..samples {
            let pair = |k: usize| {
                let (n, apart) = (n as i64, 2 * k as i64 + 1);
                f64::from(taps[k]) * (at(n - apart) - at(n + apart))
            };
            let imaginary: f64 = (0..pairs as usize).map(pair).sum();
            let real = f64::from(signal[n]);
            phase[n] = imaginary.atan2(real);
            amp[n] = real.hypot(imaginary);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    #[test]
    fn a_row_is_periodic_and_its_transform_antisymmetric() {
        let (mut phase, mut amp) = ([f64::NAN; 4], [f64::NAN; 4]);
        // For one turn of a cosine, H[n] = 0.5 (x[n - 1] - x[n + 1]) gives a sine.
        let signal = [1.0, 0.0, -1.0, 0.0];
        analytic_signal(1, 4, 4, 1, &signal, &[0.5], &mut phase, &mut amp);
        assert_eq!(amp, [1.0; 4]);
        let turn = [0.0, FRAC_PI_2, 2.0 * FRAC_PI_2, -FRAC_PI_2];
        assert!(
            phase.iter().zip(turn).all(|(a, b)| (a - b).abs() < 1e-12),
            "{phase:?}"
        );
    }

    #[test]
    fn zeros_fill_a_row_up_to_its_period() {
        let (mut phase, mut amp) = ([f64::NAN; 2], [f64::NAN; 2]);
        // The extended signal is 3 4 0 3 4 0, so H[0] = 0 - 4 and H[1] = 3 - 0.
        analytic_signal(1, 2, 3, 1, &[3.0, 4.0], &[1.0], &mut phase, &mut amp);
        assert_eq!(amp, [5.0, 5.0]);
        assert_eq!(phase[1], 3.0_f64.atan2(4.0));
    }
}
