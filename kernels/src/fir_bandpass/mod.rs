//! Zero-phase FIR filters for several bands, applied to several channels.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::fir_bandpass::fir_bandpass;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let (channels, samples, bands, reach) = (1, 4, 1, 1);
//! let signal = Buffer::from_slice(&stream, &[1.0_f32, 2.0, 3.0, 4.0])?;
//! let reaches = Buffer::from_slice(&stream, &[1_u32])?;
//! // A moving average of three: a straight line stays as it is, also at its ends.
//! let taps = Buffer::from_slice(&stream, &[1.0_f32 / 3.0; 2])?;
//! let mut filtered = Buffer::zeros(&stream, 4)?;
//! fir_bandpass(&stream, channels, samples, bands, reach, &signal, &reaches, &taps, &mut filtered)?;
//! for (got, want) in filtered.to_vec(&stream)?.into_iter().zip([1.0, 2.0, 3.0, 4.0]) {
//!     assert!((got - want).abs() < 1e-6);
//! }
//! # Ok(())
//! # }
//! ```

pub mod design;
pub mod reference;

use kiln::tuned_kernel;

pub use self::fir_bandpass::KERNEL;

// An output is a sum of up to 2 * reach + 1 products in f32. Its error is about sqrt(reach) * 2^-24 of the outputs'
// root mean square.
#[tuned_kernel(
    source = "fir_bandpass.cu",
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
        4 * min(STAGED_TAPS, 1) * (2 * (THREADS * ITEMS + STAGED_TAPS - 1) + STAGED_TAPS) <= min(49152, device.shared_bytes_per_block),
    ),
    baseline(
        entry = "fir_bandpass_simple",
        grid(samples.div_ceil(128), channels, bands),
        block(128),
        shared(0)
    ),
    try_first(
        (THREADS = 64, ITEMS = 16, SPREAD = contiguous, STAGED_TAPS = 128, UNROLL = 4),
    ),
    grid(samples.div_ceil(THREADS * ITEMS), channels, bands),
    block(THREADS),
    shared(4 * min(STAGED_TAPS, 1) * (2 * (THREADS * ITEMS + STAGED_TAPS - 1) + STAGED_TAPS)),
    problems(
        (channels = 1, samples = 2048, bands = 10, reach = 128),
        (channels = 2, samples = 4096, bands = 6, reach = 768),
    ),
    gpu_problems((channels = 16, samples = 30720, bands = 50, reach = 768)),
    verify(
        (channels = 1, samples = 1, bands = 1, reach = 0),
        (channels = 2, samples = 257, bands = 3, reach = 40),
        (channels = 1, samples = 50, bands = 2, reach = 131),
        (channels = 1, samples = 4999, bands = 3, reach = 300),
    ),
    // On average, filters are half as long as the longest one. Each tap multiplies the sum of two samples and adds the
    // product: two additions and a multiplication.
    work(
        flops = 3 * channels * samples * bands * reach / 2,
        bytes = 4 * channels * samples * (1 + bands)
    ),
    tolerance(relative = 2e-5),
    reference = reference::fir_bandpass,
)]
unsafe extern "C" {
    /// Filters every channel of `signal` (`channels x samples`) with every band's filter. `filtered` is
    /// `bands x channels x samples`. Each of its samples is `taps[0] x[n] + sum of taps[k] (x[n + k] + x[n - k])` for
    /// `k` from 1 to `reaches[band]`, which is at most `reach`.
    ///
    /// `taps` is `bands x (reach + 1)` and contains one half of each filter, from the middle outwards. [`design`]
    /// computes the taps. The signal is extended by odd reflection at both ends: `x[-k] = 2 x[0] - x[k]`, and
    /// likewise after the last sample. If the signal is shorter than the filter, a reflected index beyond the
    /// signal's other end is clamped to that end.
    pub fn fir_bandpass(
        channels: u32,
        samples: u32,
        bands: u32,
        reach: u32,
        #[len(channels * samples)] signal: &[f32],
        #[len(bands)]
        #[fill(below(reach + 1))]
        reaches: &[u32],
        #[len(bands * (reach + 1))] taps: &[f32],
        #[len(bands * channels * samples)] filtered: &mut [f32],
    );
}
