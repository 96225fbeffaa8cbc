//! The modulation index on the host, in double precision.

/// The index of the bin that contains a phase in radians. The bins are `bins` equal parts of [-pi, pi].
///
/// The position is computed in `f32` with one rounding, as in the kernels, so that the reference and the kernels put a
/// phase near the edge of a bin into the same bin. Phases outside [-pi, pi] are in the first or the last bin.
pub fn bin_of(phase: f32, bins: u32) -> usize {
    const BINS_PER_RADIAN: f32 = 0.159_154_94;
    let place = phase.mul_add(bins as f32 * BINS_PER_RADIAN, bins as f32 * 0.5);
    // The cast converts negative values and NaN to zero.
    (place as usize).min(bins as usize - 1)
}

/// The modulation index of one phase signal and one amplitude signal of the same length.
pub fn index(bins: u32, phase: &[f32], amp: impl IntoIterator<Item = f64>) -> f64 {
    let mut sums = vec![(0.0, 0.0); bins as usize];
    for (&phase, amp) in phase.iter().zip(amp) {
        let (sum, count) = &mut sums[bin_of(phase, bins)];
        *sum += amp;
        *count += 1.0;
    }
    let means = sums
        .iter()
        .map(|(sum, count)| if *count > 0.0 { sum / count } else { 0.0 });
    let total: f64 = means.clone().sum();
    if total <= 0.0 || bins < 2 {
        return 0.0;
    }
    let shares = means.map(|mean| mean / total).filter(|share| *share > 0.0);
    let entropy: f64 = shares.map(|share| share * share.ln()).sum();
    1.0 + entropy / f64::from(bins).ln()
}

/// Computes the modulation index of all pairs. The arguments have the same shapes as in [`super::modulation_index()`].
///
/// # Panics
/// If a slice is shorter than its shape.
#[expect(clippy::too_many_arguments, reason = "those of the kernel")]
pub fn modulation_index(
    channels: u32,
    samples: u32,
    phase_bands: u32,
    amp_bands: u32,
    shifts: u32,
    bins: u32,
    phase: &[f32],
    amp: &[f32],
    shift: &[u32],
    mi: &mut [f64],
) {
    let (channels, samples) = (channels as usize, samples as usize);
    let (phase_bands, amp_bands) = (phase_bands as usize, amp_bands as usize);
    let of = |data: &'_ [f32], band: usize, channel: usize| {
        let first = (band * channels + channel) * samples;
        data[first..first + samples].to_vec()
    };
    let mut to = mi.iter_mut();
    for &shift in &shift[..shifts as usize] {
        let shift = shift as usize % samples;
        for channel in 0..channels {
            for phase_band in 0..phase_bands {
                let phase = of(phase, phase_band, channel);
                for amp_band in 0..amp_bands {
                    let amp = of(amp, amp_band, channel);
                    let (wrapped, direct) = amp.split_at(shift);
                    let shifted = direct.iter().chain(wrapped);
                    let mi = to.next().expect("an index for every pair");
                    *mi = index(bins, &phase, shifted.map(|&amp| f64::from(amp)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_the_distance_from_a_uniform_distribution() {
        // There are two bins, with means 3 and 1 and shares 3/4 and 1/4. 1 + (3/4 ln 3/4 + 1/4 ln 1/4) / ln 2 =
        // 0.18872...
        let phase = [-1.0, -2.0, 1.0];
        let mut mi = [f64::NAN; 2];
        modulation_index(1, 3, 1, 1, 2, 2, &phase, &[2.0, 4.0, 1.0], &[0, 2], &mut mi);
        assert!((mi[0] - 0.188_721_875_540_867).abs() < 1e-12, "{mi:?}");
        // Shifted by two, the amplitudes are 1, 2, 4. The means are 3/2 and 4, and the shares are 3/11 and 8/11.
        let entropy = 3.0 / 11.0 * (3.0_f64 / 11.0).log2() + 8.0 / 11.0 * (8.0_f64 / 11.0).log2();
        assert!((mi[1] - 1.0 - entropy).abs() < 1e-12, "{mi:?}");
    }

    #[test]
    fn amplitude_in_one_bin_is_full_modulation_and_the_same_in_all_is_none() {
        assert_eq!(index(4, &[0.1, 0.2], [1.0, 1.0]), 1.0);
        assert!(index(2, &[-0.1, 0.2, 0.3], [1.0, 1.0, 1.0]).abs() < 1e-15);
        assert_eq!(index(2, &[-0.1, 0.2], [0.0, 0.0]), 0.0);
    }

    #[test]
    fn bins_are_equal_parts_of_a_turn_and_hold_their_lower_edge() {
        let bins = [-3.2, -3.1, -0.01, 0.0, 1.5, 1.6, 3.1, 3.2];
        let bins = bins.map(|phase| bin_of(phase, 4));
        assert_eq!(bins, [0, 0, 1, 2, 2, 3, 3, 3]);
        assert_eq!(bin_of(f32::NAN, 18), 0);
    }
}
