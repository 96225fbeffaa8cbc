//! Launches tuned kernels on the streams and memory of a program that uses cudarc.
//!
//! ```console
//! $ cargo run --example interop-cudarc --features cudarc
//! ```
//!
//! The example needs an NVIDIA GPU, and prints a message without one. Nothing here is `unsafe`, because Kiln's adapter
//! asks cudarc how long a slice is, which stream wrote to it last, and when it may be freed.
#![forbid(unsafe_code)]

use std::error::Error;

use cudarc::driver::{CudaContext, CudaSlice};
use kiln::interop::cudarc_019;
use kiln::tuned_kernel;

#[tuned_kernel(
    source = "scale.cu",
    untuned = allow,
    params(THREADS in [64, 128, 256]),
    baseline(THREADS = 128),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
)]
unsafe extern "C" {
    /// `y = by * x`.
    fn scale(n: u32, #[value(2.0)] by: f32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}

fn main() -> Result<(), Box<dyn Error>> {
    // Open the device first, because cudarc panics if the driver is not installed.
    if let Err(error) = kiln::open("cuda:0") {
        println!("nothing to launch on: {error}");
        return Ok(());
    }
    let theirs = CudaContext::new(0)?.new_stream()?;
    let x: CudaSlice<f32> = theirs.clone_htod(&[21.0; 1000])?;
    let mut y: CudaSlice<f32> = theirs.alloc_zeros(1000)?;

    // Do this once per cudarc stream. The cudarc stream stays open as long as `stream` exists.
    let stream = cudarc_019::stream(theirs.clone())?;
    // The device waits for other streams that use the slices. cudarc registers the launch as a user of both.
    scale(
        &stream,
        1000,
        2.0,
        &stream.slice(&x)?,
        &mut stream.slice_mut(&mut y)?,
    )?;
    // Parts of slices work too.
    let half = x.slice(..500);
    let mut rest = y.slice_mut(500..);
    scale(
        &stream,
        500,
        3.0,
        &stream.slice(&half)?,
        &mut stream.slice_mut(&mut rest)?,
    )?;

    let host = theirs.clone_dtoh(&y)?;
    println!("{} {}", host[0], host[999]);
    Ok(())
}
