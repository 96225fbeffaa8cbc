//! Tort's modulation index of all pairs of phase and amplitude bands, computed with histograms in shared memory.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::modulation_index::modulation_index;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let (channels, samples, phase_bands, amp_bands, shifts, bins) = (1, 360, 1, 2, 1, 18);
//! let turn: Vec<f32> = (0..360).map(|n| ((n as f32) - 179.5).to_radians()).collect();
//! // One amplitude is the same at all phases, the other one is there in one bin alone.
//! let mut amps = vec![1.0_f32; 720];
//! amps[360..].fill(0.0);
//! amps[360..380].fill(1.0);
//! let (phase, amp) = (Buffer::from_slice(&stream, &turn)?, Buffer::from_slice(&stream, &amps)?);
//! let shift = Buffer::from_slice(&stream, &[0_u32])?;
//! let mut mi = Buffer::zeros(&stream, 2)?;
//! modulation_index(
//!     &stream, channels, samples, phase_bands, amp_bands, shifts, bins, &phase, &amp, &shift, &mut mi,
//! )?;
//! let mi = mi.to_vec(&stream)?;
//! assert!(mi[0].abs() < 1e-6 && (mi[1] - 1.0).abs() < 1e-6);
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::modulation_index::KERNEL;

// The float histogram of a thread accumulates at most 128 samples before it is added to a histogram in double
// precision, so each bin has a relative error below 128 * 2^-24. The error of the index is at most 0.6 times that,
// which is 4.6e-6, because the standard deviation of log p over the bins is below 0.6 log 18.
#[tuned_kernel(
    source = "modulation_index.cu",
    untuned = allow,
    params(
        AMP_BANDS in [1, 2, 4, 8, 16],
        THREADS in [32, 64, 128, 256],
        SUM_BYTES in [4, 8],
        LAYOUT in [striped, packed],
        UNROLL in [1, 2, 4],
    ),
    where(
        THREADS <= device.max_threads_per_block,
        8 * (AMP_BANDS + 1) * bins + THREADS * bins * (AMP_BANDS * SUM_BYTES + 4) <= device.shared_bytes_per_block,
    ),
    baseline(
        entry = "modulation_index_simple",
        grid(phase_bands, amp_bands.div_ceil(32), channels * shifts),
        block(32),
        shared(512 * bins)
    ),
    try_first(
        (AMP_BANDS = 4, THREADS = 32, SUM_BYTES = 8, LAYOUT = packed, UNROLL = 2),
    ),
    grid(phase_bands, amp_bands.div_ceil(AMP_BANDS), channels * shifts),
    block(THREADS),
    shared(8 * (AMP_BANDS + 1) * bins + THREADS * bins * (AMP_BANDS * SUM_BYTES + 4)),
    problems(
        (channels = 1, samples = 512, phase_bands = 10, amp_bands = 10, shifts = 1, bins = 18),
        (channels = 8, samples = 2048, phase_bands = 10, amp_bands = 20, shifts = 2, bins = 18),
    ),
    gpu_problems((channels = 16, samples = 30720, phase_bands = 50, amp_bands = 50, shifts = 1, bins = 18)),
    verify(
        (channels = 1, samples = 1, phase_bands = 1, amp_bands = 1, shifts = 1, bins = 1),
        (channels = 2, samples = 257, phase_bands = 3, amp_bands = 5, shifts = 2, bins = 18),
        (channels = 1, samples = 97, phase_bands = 1, amp_bands = 17, shifts = 3, bins = 7),
        (channels = 1, samples = 9001, phase_bands = 2, amp_bands = 3, shifts = 1, bins = 18),
    ),
    // Each sample of a pair needs a comparison and an addition.
    work(
        flops = 2 * channels * samples * phase_bands * amp_bands * shifts,
        bytes = 4 * channels * (samples * (phase_bands + amp_bands) + phase_bands * amp_bands * shifts)
    ),
    tolerance(relative = 1e-6, absolute = 5e-6),
    reference = reference::modulation_index,
)]
unsafe extern "C" {
    /// Computes the modulation index `mi` (`shifts x channels x phase_bands x amp_bands`) of phases in radians
    /// (`phase_bands x channels x samples`) and non-negative amplitudes (`amp_bands x channels x samples`). `mi[s]`
    /// pairs the amplitude of sample `(t + shift[s]) mod samples` with the phase of sample `t`. A shift of 0 gives the
    /// index of the data itself, and other shifts give surrogates.
    pub fn modulation_index(
        channels: u32,
        samples: u32,
        phase_bands: u32,
        amp_bands: u32,
        shifts: u32,
        bins: u32,
        #[len(phase_bands * channels * samples)]
        #[fill(uniform(-3.2, 3.2))]
        phase: &[f32],
        #[len(amp_bands * channels * samples)]
        #[fill(uniform(0, 1))]
        amp: &[f32],
        #[len(shifts)]
        #[fill(below(samples))]
        shift: &[u32],
        #[len(shifts * channels * phase_bands * amp_bands)] mi: &mut [f32],
    );
}
