//! The device memory of a run. It is allocated once, for the largest chunk.

use kiln::{Buffer, Element, Stream};

use super::bank::Bank;
use super::memory::{Chunk, Extents};
use super::{PacError, Part, Settings};
use kiln_kernels::analytic_signal::analytic_signal;
use kiln_kernels::fir_bandpass::fir_bandpass;

/// The buffers of a run.
pub(super) struct Workspace {
    signal: Buffer<f32>,
    /// Number of samples in `signal`, over all of its channels.
    taken: usize,
    filtered: Buffer<f32>,
    /// Outputs of the kernel that are not used: amplitudes of phase bands and phases of amplitude bands.
    spare: Buffer<f32>,
    pub phase: Buffer<f32>,
    pub amp: Buffer<f32>,
    taps: Buffer<f32>,
    reaches: Buffer<u32>,
    hilbert: Buffer<f32>,
    pub shift: Buffer<u32>,
    pub mi: Buffer<f32>,
}

/// The quantity that the analysis computes for some bands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    Phase,
    Amp,
}

impl Workspace {
    pub fn new(stream: &Stream, extents: &Extents, chunk: Chunk) -> Result<Workspace, PacError> {
        let (c, p, a) = (chunk.channels, chunk.phase_bands, chunk.amp_bands);
        let rows = |bands: usize| Buffer::zeros(stream, bands * c * extents.samples);
        Ok(Workspace {
            signal: rows(1)?,
            taken: 0,
            filtered: rows(p.max(a))?,
            spare: rows(p.max(a))?,
            phase: rows(p)?,
            amp: rows(a)?,
            taps: Buffer::zeros(stream, extents.taps(chunk))?,
            reaches: Buffer::zeros(stream, p.max(a))?,
            hilbert: Buffer::zeros(stream, extents.hilbert)?,
            shift: Buffer::zeros(stream, extents.shifts)?,
            mi: Buffer::zeros(stream, extents.shifts * c * p * a)?,
        })
    }

    /// Size of all buffers in bytes.
    pub fn bytes(&self) -> u64 {
        fn bytes<T>(buffer: &Buffer<T>) -> u64
        where
            T: Element,
        {
            (buffer.len() * size_of::<T>()) as u64
        }
        let floats = [
            &self.signal,
            &self.filtered,
            &self.spare,
            &self.phase,
            &self.amp,
            &self.taps,
            &self.hilbert,
            &self.mi,
        ];
        floats.into_iter().map(bytes).sum::<u64>() + bytes(&self.reaches) + bytes(&self.shift)
    }

    /// Copies the signal of a chunk's channels to the device.
    pub fn take_signal(&mut self, stream: &Stream, signal: &[f32]) -> Result<(), PacError> {
        copy(stream, &mut self.signal, signal)?;
        self.taken = signal.len();
        Ok(())
    }

    /// Filters the channels, and computes the phases or the amplitudes of some bands.
    pub fn analyse(
        &mut self,
        stream: &Stream,
        settings: &Settings,
        bank: &Bank,
        bands: Part,
        wanted: Rows,
    ) -> Result<(), PacError> {
        let width = bank.reach + 1;
        let taps = &bank.taps[bands.first * width..][..bands.count * width];
        copy(stream, &mut self.taps, taps)?;
        let reaches = &bank.reaches[bands.first..][..bands.count];
        copy(stream, &mut self.reaches, reaches)?;
        copy(stream, &mut self.hilbert, &bank.hilbert)?;

        let channels = self.taken / settings.samples as usize;
        let len = bands.count * self.taken;
        fir_bandpass(
            stream,
            channels as u32,
            settings.samples,
            bands.count as u32,
            bank.reach as u32,
            &self.signal.view(..self.taken),
            &self.reaches.view(..bands.count),
            &self.taps.view(..taps.len()),
            &mut self.filtered.view_mut(..len),
        )?;
        let (phase, amp) = match wanted {
            Rows::Phase => (&mut self.phase, &mut self.spare),
            Rows::Amp => (&mut self.spare, &mut self.amp),
        };
        analytic_signal(
            stream,
            (bands.count * channels) as u32,
            settings.samples,
            settings.period() as u32,
            bank.hilbert.len() as u32,
            &self.filtered.view(..len),
            &self.hilbert.view(..bank.hilbert.len()),
            &mut phase.view_mut(..len),
            &mut amp.view_mut(..len),
        )?;
        Ok(())
    }
}

/// Copies elements to the front of a buffer, and fills the rest with zeros.
fn copy<T: Element>(stream: &Stream, to: &mut Buffer<T>, from: &[T]) -> Result<(), PacError> {
    if from.len() == to.len() {
        return Ok(to.copy_from_slice(stream, from)?);
    }
    let mut whole = vec![T::from_f64(0.0); to.len()];
    whole[..from.len()].copy_from_slice(from);
    Ok(to.copy_from_slice(stream, &whole)?)
}
