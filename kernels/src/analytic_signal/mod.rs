//! Phase and amplitude of the analytic signal. A FIR filter computes the Hilbert transform.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::analytic_signal::{design, analytic_signal};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let (rows, samples, period) = (1, 256, 256);
//! let pairs = design::pairs(256, 1.0, 256.0);
//! let taps: Vec<f32> = design::taps(256, pairs).into_iter().map(|tap| tap as f32).collect();
//! let cosine: Vec<f32> = (0..256).map(|n| (n as f32 * std::f32::consts::TAU / 16.0).cos()).collect();
//! let signal = Buffer::from_slice(&stream, &cosine)?;
//! let taps = Buffer::from_slice(&stream, &taps)?;
//! let (mut phase, mut amp) = (Buffer::zeros(&stream, 256)?, Buffer::zeros(&stream, 256)?);
//! analytic_signal(&stream, rows, samples, period, pairs as u32, &signal, &taps, &mut phase, &mut amp)?;
//! let (phase, amp) = (phase.to_vec(&stream)?, amp.to_vec(&stream)?);
//! assert!((amp[100] - 1.0).abs() < 1e-3 && (phase[4] - std::f32::consts::FRAC_PI_2).abs() < 1e-3);
//! # Ok(())
//! # }
//! ```

pub mod design;
pub mod reference;

use kiln::tuned_kernel;

pub use self::analytic_signal::KERNEL;

// The transform is a sum of products in f32. The error of a phase is the error of the sum divided by the amplitude, or
// a whole turn if the sign of a small imaginary part decides between pi and -pi. The signals for verification are at
// least 0.5, so no amplitude is near 0 and no phase is near pi.
#[tuned_kernel(
    source = "analytic_signal.cu",
    untuned = allow,
    params(
        THREADS in [32, 64, 128, 256],
        ITEMS in [1, 2, 4, 8, 16],
        SPREAD in [strided, contiguous],
        STAGED_TAPS in [0, 32, 128],
        UNROLL in [1, 4],
    ),
    where(
        THREADS <= device.max_threads_per_block,
        4 * min(STAGED_TAPS, 1) * (2 * (THREADS * ITEMS + 2 * STAGED_TAPS - 2) + STAGED_TAPS)
            <= min(49152, device.shared_bytes_per_block),
    ),
    baseline(
        entry = "analytic_signal_simple",
        grid(samples.div_ceil(128), rows),
        block(128),
        shared(0)
    ),
    try_first(
        (THREADS = 128, ITEMS = 16, SPREAD = contiguous, STAGED_TAPS = 128, UNROLL = 1),
        (THREADS = 32, ITEMS = 16, SPREAD = contiguous, STAGED_TAPS = 128, UNROLL = 4),
    ),
    grid(samples.div_ceil(THREADS * ITEMS), rows),
    block(THREADS),
    shared(4 * min(STAGED_TAPS, 1) * (2 * (THREADS * ITEMS + 2 * STAGED_TAPS - 2) + STAGED_TAPS)),
    problems(
        (rows = 10, samples = 2048, period = 2048, pairs = 64),
        (rows = 4, samples = 30720, period = 30720, pairs = 640),
    ),
    gpu_problems((rows = 800, samples = 30720, period = 30720, pairs = 640)),
    verify(
        (rows = 1, samples = 2, period = 3, pairs = 1),
        (rows = 3, samples = 257, period = 270, pairs = 40),
        (rows = 2, samples = 50, period = 51, pairs = 131),
        (rows = 1, samples = 4999, period = 5000, pairs = 200),
    ),
    work(flops = 3 * rows * samples * pairs, bytes = 12 * rows * samples),
    tolerance(relative = 2e-5),
    reference = reference::analytic_signal,
)]
unsafe extern "C" {
    /// Computes the phase (`phase`, in radians) and the amplitude (`amp`) of the analytic signal of every row of
    /// `signal`. All three are `rows x samples`.
    ///
    /// `taps` contains the first `pairs` taps of the Hilbert transform, at the distances 1, 3, 5 and so on. [`design`]
    /// computes them. Each row of `signal` is extended with zeros to `period` samples (at least its own length), and
    /// the extended row is continued periodically on both sides.
    pub fn analytic_signal(
        rows: u32,
        samples: u32,
        period: u32,
        pairs: u32,
        #[len(rows * samples)]
        #[fill(uniform(0.5, 1.5))]
        signal: &[f32],
        #[len(pairs)] taps: &[f32],
        #[len(rows * samples)] phase: &mut [f32],
        #[len(rows * samples)] amp: &mut [f32],
    );
}
