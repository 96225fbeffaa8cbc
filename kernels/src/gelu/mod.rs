//! The Gaussian error linear unit, in its exact form or approximated with a hyperbolic tangent.
//!
//! ```
//! use kiln::{Buffer, Device};
//! use kiln_kernels::gelu::gelu;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let x = Buffer::from_slice(&stream, &[-1.0_f32, 0.0, 1.0])?;
//! let mut y = Buffer::zeros(&stream, 3)?;
//! gelu(&stream, 3, 1, &x, &mut y)?;
//! let y = y.to_vec(&stream)?;
//! assert!((y[2] - 0.841_345).abs() < 1e-5 && y[1] == 0.0 && (y[2] - y[0] - 1.0).abs() < 1e-6);
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::gelu::KERNEL;

// The exact form uses a polynomial with a relative error of up to 7e-7. The approximate form uses the fast exponential,
// which has an error of a few units in the last place, and a larger error if its argument is large. Below x = -4 both
// errors grow, but gelu is small there. `absolute` allows for that.
#[tuned_kernel(
    source = "gelu.cu",
    untuned = allow,
    types(T in [f32, f16, bf16]),
    params(
        VECTOR_WIDTH in [1, 2, 4, 8, 16, 32, 64],
        THREADS in [64, 128, 256, 512, 1024],
        ITEMS in [1, 2, 4],
        HINT in [plain, streaming],
    ),
    where(
        form == 1 || form == 2,
        // A GPU thread moves at most 16 bytes at once. On a CPU, a thread runs alone and moves up to 512 bytes.
        VECTOR_WIDTH * size_of(T) <= 512 / device.lockstep_threads,
        THREADS <= device.max_threads_per_block,
    ),
    baseline(VECTOR_WIDTH = 1, THREADS = 256, ITEMS = 1, HINT = plain),
    try_first(
        (VECTOR_WIDTH = 64, THREADS = 128, ITEMS = 4, HINT = streaming),
        (VECTOR_WIDTH = 4, THREADS = 256, ITEMS = 1, HINT = plain),
    ),
    grid(n.div_ceil(VECTOR_WIDTH * THREADS * ITEMS)),
    block(THREADS),
    problems((n = 1048576, form = 1), (T = f32, n = 1048576, form = 2)),
    gpu_problems((n = 33554432, form = 1), (n = 33554432, form = 2)),
    verify(
        (n = 1, form = 1), (n = 1000, form = 2), (n = 4099, form = 1), (n = 8192, form = 2), (n = 65537, form = 1),
    ),
    work(flops = 12 * n, bytes = 2 * size_of(T) * n),
    tolerance(relative = 2e-6, absolute = 1e-10),
    reference = reference::gelu,
)]
unsafe extern "C" {
    /// Computes `y = gelu(x)` over n elements. If `form` is 1, gelu is `x/2 (1 + erf(x/sqrt(2)))`. If `form` is 2,
    /// gelu is `x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))`.
    pub fn gelu(
        n: u32,
        form: u32,
        #[len(n)]
        #[fill(uniform(-6, 6))]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        x: &[T],
        #[len(n)]
        #[align(min(VECTOR_WIDTH, 16 / size_of(T)))]
        y: &mut [T],
    );
}
