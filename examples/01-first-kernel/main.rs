//! # 1. A first kernel
//!
//! You learn how to declare a kernel, how to launch it on the `cpu` device (which every machine has), and how the
//! device itself reports what it ran.
//!
//! ```console
//! $ cargo run --example 01-first-kernel
//! device   cpu/…
//! launch   baseline: nothing is baked for this kernel
//! result   [1.0, 4.0, 9.0, 16.0, 25.0]
//! receipt  grid [4, 1, 1], block [64, 1, 1], 256 threads, symbol …
//! the receipt is that of the intended launch
//! ```
//!
//! The kernel is ordinary CUDA, in `square.cu` next to this file. It uses the macro `THREADS`, and the declaration
//! below lists the macro's values. Nothing is tuned yet, so the launch uses the baseline, which is the simplest correct
//! config.
#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use kiln::receipt::ExpectedReceipt;
use kiln::rig::{Layout, Rig};
use kiln::{Buffer, Device, Stream, tuned_kernel};

// The block is `unsafe` because nothing can check that the source does what you declare here. The generated function is
// safe, and takes slices instead of pointers.
#[tuned_kernel(
    source = "square.cu",
    untuned = allow,
    params(THREADS in [32, 64, 128, 256]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 200)),
    reference = square_reference,
)]
unsafe extern "C" {
    /// `y = x * x` over n elements.
    fn square(n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]);
}

/// The reference, in plain Rust. Kiln compares outputs with it. The reference of an `f32` kernel computes in `f64`.
fn square_reference(_n: u32, x: &[f32], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = f64::from(*x) * f64::from(*x);
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        // Without a C++ compiler, this prints an error that says what to install.
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let stream = Device::cpu()?.stream();
    println!("device   {}", stream.device().info().key);
    launch(&stream)?;
    receipt(&stream)
}

/// Launches the kernel as a program does.
fn launch(stream: &Stream) -> Result<(), Box<dyn Error>> {
    let kernel = &square::KERNEL;
    let problem = square::problem(5);
    let selection = kernel.selection(stream.device(), &problem);
    println!("launch   {selection}");

    let x = Buffer::from_slice(stream, &[1.0_f32, 2.0, 3.0, 4.0, 5.0])?;
    let mut y = Buffer::<f32>::zeros(stream, 5)?;
    square(stream, 5, &x, &mut y)?;
    println!("result   {:?}", y.to_vec(stream)?);
    Ok(())
}

/// Launches a second entry point of the same module. It has the same body, and also records the launch in a receipt.
fn receipt(stream: &Stream) -> Result<(), Box<dyn Error>> {
    let kernel = &square::KERNEL;
    let device = stream.device();
    let problem = &kernel.spec().problems[0];
    let choice = kernel.selection(device, problem).choice();
    let prepared = kernel.prepare(device, problem)?;
    let plan = kernel.plan(choice, problem, Some(&device.info().limits))?;

    // A rig generates the inputs, fills the outputs with a poison pattern, and surrounds both with guard zones.
    let spec = Arc::new(kernel.spec().clone());
    let rig = Rig::new(stream, &spec, problem, 1, Layout::Zones)?;
    let nonce = 42;
    let receipt = rig.launch_for_receipt(&prepared.receipt, &plan, nonce)?;
    println!(
        "receipt  grid {:?}, block {:?}, {} threads, symbol {:016x}",
        receipt.grid, receipt.block, receipt.threads, receipt.symbol_hash
    );
    receipt.check(&ExpectedReceipt {
        nonce,
        symbol_hash: prepared.symbol_hash,
        config_hash: prepared.config_hash,
        plan,
    })?;
    println!("the receipt is that of the intended launch");
    Ok(())
}
