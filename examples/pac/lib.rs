//! Phase-amplitude coupling of whole recordings, within a given budget of device memory.
//!
//! [`Pac::plan`] computes the required device memory before anything is allocated, and splits channels and bands into
//! chunks that fit a budget. [`Pac::run`] processes each chunk with [`fir_bandpass`](mod@kiln_kernels::fir_bandpass),
//! [`analytic_signal`](mod@kiln_kernels::analytic_signal) and
//! [`modulation_index`](mod@kiln_kernels::modulation_index).

mod bank;
mod error;
mod memory;
mod workspace;

use kiln::Stream;

pub use self::bank::Band;
pub use self::error::PacError;
pub use self::memory::Chunk;

use self::bank::Bank;
use self::memory::Extents;
use self::workspace::{Rows, Workspace};
use kiln_kernels::analytic_signal::design as hilbert;
use kiln_kernels::modulation_index::modulation_index;

/// The shape of a recording, and the parameters of its analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Number of channels, which are the rows of the recording.
    pub channels: u32,
    /// Samples per channel.
    pub samples: u32,
    /// Samples per second.
    pub sampling_rate: f64,
    /// The slower bands, whose phases are used.
    pub phase_bands: Vec<Band>,
    /// The faster bands, whose amplitudes are used.
    pub amp_bands: Vec<Band>,
    /// Length of a filter in cycles of its band's lower edge: for the phase bands, then for the amplitude bands.
    pub cycles: (u32, u32),
    /// Number of bins that a full turn of the phase is divided into.
    pub bins: u32,
    /// Circular shifts of the amplitudes against the phases, in samples. 0 is the data itself, others are surrogates.
    pub shifts: Vec<u32>,
}

/// A planned analysis: the designed filters, and the chunk that fits the budget.
#[derive(Clone, Debug)]
pub struct Pac {
    settings: Settings,
    extents: Extents,
    chunk: Chunk,
    phase: Bank,
    amp: Bank,
}

/// The result of an analysis.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// Modulation indices. Their shape is `shifts x channels x phase bands x amplitude bands`.
    pub mi: Vec<f32>,
    /// Device memory that the analysis allocated, in bytes.
    pub device_bytes: u64,
}

impl Pac {
    /// Plans an analysis that uses at most `budget_bytes` of device memory. [`Chunk`] documents the formula.
    ///
    /// # Errors
    /// [`PacError::Settings`] for invalid settings; [`PacError::Budget`] if not even one channel and one band pair fit.
    pub fn plan(settings: Settings, budget_bytes: u64) -> Result<Pac, PacError> {
        settings.check()?;
        let extents = Extents::of(&settings);
        let chunk = extents.fit(budget_bytes)?;
        let bank = |bands: &[Band], cycles| Bank::design(&settings, bands, cycles);
        Ok(Pac {
            phase: bank(&settings.phase_bands, settings.cycles.0),
            amp: bank(&settings.amp_bands, settings.cycles.1),
            settings,
            extents,
            chunk,
        })
    }

    /// The channels and bands that are on the device at the same time.
    pub fn chunk(&self) -> Chunk {
        self.chunk
    }

    /// Device memory that a run allocates, in bytes.
    pub fn device_bytes(&self) -> u64 {
        // A plan fits the budget, which is a `u64`.
        self.extents.bytes(self.chunk) as u64
    }

    /// Computes the coupling of a recording of `channels x samples` numbers.
    ///
    /// # Errors
    /// If the length of the recording differs from the plan, or if the device or a launch fails.
    pub fn run(&self, stream: &Stream, signal: &[f32]) -> Result<Coupling, PacError> {
        let settings = &self.settings;
        let (channels, samples) = (settings.channels as usize, settings.samples as usize);
        if signal.len() != channels * samples {
            return Err(PacError::Settings(format!(
                "the recording has {} samples, {channels} channels of {samples} were planned",
                signal.len()
            )));
        }
        let mut workspace = Workspace::new(stream, &self.extents, self.chunk)?;
        workspace.shift.copy_from_slice(stream, &settings.shifts)?;
        let mut mi = vec![0.0; settings.shifts.len() * channels * self.pairs()];
        for channels in chunks(channels, self.chunk.channels) {
            let rows = &signal[channels.first * samples..][..channels.count * samples];
            workspace.take_signal(stream, rows)?;
            let mut amps_are_of = None;
            for phases in chunks(settings.phase_bands.len(), self.chunk.phase_bands) {
                workspace.analyse(stream, settings, &self.phase, phases, Rows::Phase)?;
                for amps in chunks(settings.amp_bands.len(), self.chunk.amp_bands) {
                    if amps_are_of != Some(amps.first) {
                        workspace.analyse(stream, settings, &self.amp, amps, Rows::Amp)?;
                        amps_are_of = Some(amps.first);
                    }
                    let part = self.couple(stream, &mut workspace, [channels, phases, amps])?;
                    self.place(&part, [channels, phases, amps], &mut mi);
                }
            }
        }
        Ok(Coupling {
            mi,
            device_bytes: workspace.bytes(),
        })
    }

    fn pairs(&self) -> usize {
        self.settings.phase_bands.len() * self.settings.amp_bands.len()
    }

    /// Computes the modulation indices of the phases and amplitudes in the workspace.
    fn couple(
        &self,
        stream: &Stream,
        workspace: &mut Workspace,
        [channels, phases, amps]: [Part; 3],
    ) -> Result<Vec<f32>, PacError> {
        let shifts = self.settings.shifts.len();
        let samples = self.settings.samples as usize;
        let count = shifts * channels.count * phases.count * amps.count;
        modulation_index(
            stream,
            channels.count as u32,
            self.settings.samples,
            phases.count as u32,
            amps.count as u32,
            shifts as u32,
            self.settings.bins,
            &workspace
                .phase
                .view(..phases.count * channels.count * samples),
            &workspace.amp.view(..amps.count * channels.count * samples),
            &workspace.shift,
            &mut workspace.mi.view_mut(..count),
        )?;
        Ok(workspace.mi.view(..count).to_vec(stream)?)
    }

    /// Copies the indices of a chunk to their positions in `mi`, the indices of the whole analysis.
    fn place(&self, part: &[f32], [channels, phases, amps]: [Part; 3], mi: &mut [f32]) {
        let all_channels = self.settings.channels as usize;
        let (all_phases, all_amps) = (
            self.settings.phase_bands.len(),
            self.settings.amp_bands.len(),
        );
        for (row, from) in part.chunks_exact(amps.count).enumerate() {
            let phase = phases.first + row % phases.count;
            let channel = channels.first + row / phases.count % channels.count;
            let shift = row / phases.count / channels.count;
            let to = ((shift * all_channels + channel) * all_phases + phase) * all_amps;
            mi[to + amps.first..][..amps.count].copy_from_slice(from);
        }
    }
}

/// A range of consecutive channels or bands.
#[derive(Clone, Copy, Debug)]
struct Part {
    first: usize,
    count: usize,
}

/// Splits `all` channels or bands into parts of at most `most`.
fn chunks(all: usize, most: usize) -> impl Iterator<Item = Part> {
    (0..all).step_by(most).map(move |first| Part {
        first,
        count: most.min(all - first),
    })
}

impl Settings {
    fn check(&self) -> Result<(), PacError> {
        let nyquist = self.sampling_rate / 2.0;
        let bands = self.phase_bands.iter().chain(&self.amp_bands);
        let wrong = bands
            .filter(|band| !(band.low > 0.0 && band.low < band.high && band.high < nyquist))
            .map(|band| format!("the band {band} is not between 0 and {nyquist} Hz"))
            .next();
        let empty = [
            ("channels", self.channels == 0),
            ("samples", self.samples == 0),
            ("phase bands", self.phase_bands.is_empty()),
            ("amplitude bands", self.amp_bands.is_empty()),
            ("cycles", self.cycles.0 == 0 || self.cycles.1 == 0),
            ("bins", self.bins == 0),
            ("shifts", self.shifts.is_empty()),
        ];
        let empty = empty.iter().find(|(_, empty)| *empty);
        match wrong.or_else(|| empty.map(|(what, _)| format!("there are no {what}"))) {
            Some(wrong) => Err(PacError::Settings(wrong)),
            None => Ok(()),
        }
    }

    fn period(&self) -> usize {
        hilbert::period(self.samples as usize)
    }
}
