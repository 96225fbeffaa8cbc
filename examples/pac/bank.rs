//! A bank of filters: one for each phase band, or one for each amplitude band.

use std::fmt;

use super::Settings;
use kiln_kernels::analytic_signal::design as hilbert;
use kiln_kernels::fir_bandpass::design as fir;

/// A range of frequencies, in Hz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band {
    /// The lower edge.
    pub low: f64,
    /// The upper edge.
    pub high: f64,
}

impl Band {
    /// `count` bands of width `width`. The lower edge of the first one is `low`, and the lower edges are `step` apart.
    pub fn series(low: f64, step: f64, width: f64, count: usize) -> Vec<Band> {
        let lows = (0..count).map(|i| low + step * i as f64);
        lows.map(|low| Band {
            low,
            high: low + width,
        })
        .collect()
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{} Hz", self.low, self.high)
    }
}

/// Designed filters, in the layout that the kernels require.
#[derive(Clone, Debug)]
pub(super) struct Bank {
    /// The reach of each band's filter: its number of taps on one side of the middle tap.
    pub reaches: Vec<u32>,
    /// `bands x (reach + 1)` taps: for each band the middle tap and one side, padded with zeros.
    pub taps: Vec<f32>,
    /// The longest of the reaches.
    pub reach: usize,
    /// Taps of the Hilbert transform.
    pub hilbert: Vec<f32>,
}

impl Bank {
    /// The reach of the longest filter, computed without designing the filter.
    pub fn reach(settings: &Settings, bands: &[Band], cycles: u32) -> usize {
        let orders = bands.iter().map(|band| order(settings, band, cycles));
        orders.max().unwrap_or(0)
    }

    /// The number of taps of the Hilbert transform for these bands. A filter passes some signal below its band, so the
    /// transform is designed to be accurate from a quarter of the lowest edge upwards.
    pub fn hilbert_pairs(settings: &Settings, bands: &[Band]) -> usize {
        let lowest = bands.iter().map(|band| band.low).fold(f64::MAX, f64::min);
        hilbert::pairs(settings.period(), lowest / 4.0, settings.sampling_rate)
    }

    pub fn design(settings: &Settings, bands: &[Band], cycles: u32) -> Bank {
        let reach = Bank::reach(settings, bands, cycles);
        let mut taps = vec![0.0; bands.len() * (reach + 1)];
        let mut reaches = Vec::new();
        for (band, to) in bands.iter().zip(taps.chunks_exact_mut(reach + 1)) {
            let order = order(settings, band, cycles);
            let filter = fir::bandpass(order, band.low, band.high, settings.sampling_rate);
            for (to, tap) in to.iter_mut().zip(fir::zero_phase(&filter)) {
                *to = tap as f32;
            }
            reaches.push(order as u32);
        }
        let pairs = Bank::hilbert_pairs(settings, bands);
        let hilbert = hilbert::taps(settings.period(), pairs);
        Bank {
            reaches,
            taps,
            reach,
            hilbert: hilbert.into_iter().map(|tap| tap as f32).collect(),
        }
    }
}

fn order(settings: &Settings, band: &Band, cycles: u32) -> usize {
    fir::order(
        settings.sampling_rate,
        settings.samples as usize,
        band.low,
        cycles,
    )
}
