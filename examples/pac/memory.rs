//! The device memory of a chunk, and the largest chunk that fits a budget.

use super::bank::Bank;
use super::{PacError, Settings};

/// Maximum number of blocks along the second and third axis of a grid, on every device.
const MAX_BLOCKS: usize = 65_535;

/// The number of channels and bands that are on the device at the same time.
///
/// A chunk needs
///
/// ```text
/// 4 (c n (1 + 2 m + p + a) + taps + h + m + s + s c p a) bytes
/// ```
///
/// for the signal, the filtered signal, the phases and amplitudes (each filtered signal yields both, and one of the two
/// is unused), the filters and their lengths, the shifts, and the indices. The variables are:
///
/// - `c`, `p` and `a`: the numbers of channels, phase bands and amplitude bands of the chunk, with `m = max(p, a)`
/// - `n` and `s`: the numbers of samples per channel and of shifts
/// - `taps`: the larger of `p (r + 1)`, where `r` is the longest reach of a phase band, and the same product for the
///   amplitude bands
/// - `h`: the number of taps of the longer Hilbert transform
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Number of channels.
    pub channels: usize,
    /// Number of phase bands.
    pub phase_bands: usize,
    /// Number of amplitude bands.
    pub amp_bands: usize,
}

/// The variables of the formula at [`Chunk`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Extents {
    pub all: Chunk,
    pub samples: usize,
    pub shifts: usize,
    pub phase_reach: usize,
    pub amp_reach: usize,
    pub hilbert: usize,
}

impl Extents {
    pub fn of(settings: &Settings) -> Extents {
        let reach = |bands, cycles| Bank::reach(settings, bands, cycles);
        let pairs = |bands| Bank::hilbert_pairs(settings, bands);
        Extents {
            all: Chunk {
                channels: settings.channels as usize,
                phase_bands: settings.phase_bands.len(),
                amp_bands: settings.amp_bands.len(),
            },
            samples: settings.samples as usize,
            shifts: settings.shifts.len(),
            phase_reach: reach(&settings.phase_bands, settings.cycles.0),
            amp_reach: reach(&settings.amp_bands, settings.cycles.1),
            hilbert: pairs(&settings.phase_bands).max(pairs(&settings.amp_bands)),
        }
    }

    /// Number of elements of the buffer for filters.
    pub fn taps(&self, chunk: Chunk) -> usize {
        let phase = chunk.phase_bands * (self.phase_reach + 1);
        phase.max(chunk.amp_bands * (self.amp_reach + 1))
    }

    /// Device memory of a chunk in bytes, according to the formula.
    pub fn bytes(&self, chunk: Chunk) -> u128 {
        let wide = |n: usize| n as u128;
        let (c, p, a) = (chunk.channels, chunk.phase_bands, chunk.amp_bands);
        let rows = wide(c) * wide(1 + 2 * p.max(a) + p + a);
        let filters = wide(self.taps(chunk)) + wide(self.hilbert) + wide(p.max(a));
        let indices = wide(self.shifts) * wide(c) * wide(p) * wide(a);
        4 * (rows * wide(self.samples) + filters + wide(self.shifts) + indices)
    }

    /// The largest chunk that fits: all bands of as many channels as possible, or else one channel with all amplitude
    /// bands and as many phase bands as possible, or else one phase band and as many amplitude bands as possible.
    pub fn fit(&self, budget: u64) -> Result<Chunk, PacError> {
        let all = self.all;
        let one = Chunk {
            channels: 1,
            phase_bands: 1,
            amp_bands: 1,
        };
        let fits = |chunk: &Chunk| {
            let rows = chunk.channels * self.shifts.max(chunk.phase_bands.max(chunk.amp_bands));
            self.bytes(*chunk) <= u128::from(budget) && (rows <= MAX_BLOCKS || *chunk == one)
        };
        let by_channels = |channels| Chunk { channels, ..all };
        let by_phases = |phase_bands| Chunk {
            phase_bands,
            channels: 1,
            ..all
        };
        let by_amps = |amp_bands| Chunk { amp_bands, ..one };
        most(all.channels, by_channels, fits)
            .or_else(|| most(all.phase_bands, by_phases, fits))
            .or_else(|| most(all.amp_bands, by_amps, fits))
            .ok_or_else(|| PacError::Budget {
                needed: self.bytes(one),
                budget,
            })
    }
}

/// `chunk(n)` for the largest `n` up to `all` that fits. If `n` fits, all smaller numbers must fit too.
fn most(
    all: usize,
    chunk: impl Fn(usize) -> Chunk,
    fits: impl Fn(&Chunk) -> bool,
) -> Option<Chunk> {
    let (mut fitting, mut beyond) = (0, all + 1);
    while fitting + 1 < beyond {
        let middle = fitting + (beyond - fitting) / 2;
        if fits(&chunk(middle)) {
            fitting = middle;
        } else {
            beyond = middle;
        }
    }
    (fitting > 0).then(|| chunk(fitting))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXTENTS: Extents = Extents {
        all: Chunk {
            channels: 4,
            phase_bands: 3,
            amp_bands: 2,
        },
        samples: 100,
        shifts: 2,
        phase_reach: 9,
        amp_reach: 4,
        hilbert: 5,
    };

    #[test]
    fn the_formula_is_worked_out_by_hand() {
        // 4 channels need 4 * 100 * (1 + 6 + 3 + 2) + 30 + 5 + 3 + 2 + 2 * 4 * 6 numbers of 4 bytes.
        assert_eq!(EXTENTS.bytes(EXTENTS.all), 4 * (4800 + 40 + 48));
    }

    #[test]
    fn a_budget_is_met_by_fewer_channels_and_then_fewer_bands() {
        let fit = |chunk: [usize; 3]| {
            let [channels, phase_bands, amp_bands] = chunk;
            let chunk = Chunk {
                channels,
                phase_bands,
                amp_bands,
            };
            let need = EXTENTS.bytes(chunk) as u64;
            assert_eq!(EXTENTS.fit(need).unwrap(), chunk);
            EXTENTS.fit(need - 1)
        };
        for chunk in [[4, 3, 2], [1, 3, 2], [1, 2, 2], [1, 1, 2]] {
            assert!(fit(chunk).is_ok());
        }
        let refused = fit([1, 1, 1]).unwrap_err().to_string();
        let needed = EXTENTS.bytes(Chunk {
            channels: 1,
            phase_bands: 1,
            amp_bands: 1,
        });
        assert!(refused.contains(&format!("{needed} bytes")), "{refused}");
        assert!(
            refused.contains(&format!("{} bytes", needed - 1)),
            "{refused}"
        );
    }
}
