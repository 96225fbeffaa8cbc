//! # 6. Rows of devices that this machine does not have
//!
//! You learn how to launch a row that was baked for another device on the `cpu` device, and how the receipt proves
//! which row ran. In this way, CI without a GPU detects that a program launches the wrong kernel.
//!
//! ```console
//! $ cargo run --example 06-other-devices
//! here      baseline: nothing is baked for this device or its architecture
//! row 0     cuda/sm_89/NVIDIA L4, THREADS=384, predicted
//!   forced  baked row 0: forced, grid=(64,1,1) block=(384,1,1) shared=0
//!   receipt block [384, 1, 1], 24576 threads: as intended
//!   output  as the baseline's
//! row 1     hip/gfx1151/Radeon 8060S, THREADS=256, predicted
//!   forced  baked row 1: forced, grid=(64,1,1) block=(256,1,1) shared=0
//!   receipt block [256, 1, 1], 16384 threads: as intended
//!   output  as the baseline's
//! if row 0 was launched where row 1 was meant: the receipt is not that of the intended launch
//!   symbol hash: expected …, but the device reports …
//!   config hash: expected …, but the device reports …
//!   block: expected (256,1,1), but the device reports (384,1,1)
//!   threads: expected 16384, but the device reports 24576
//! ```
//!
//! The rows are in `examples/tuned/row_norms.toml`. They exist only for this example and were never measured, so their
//! evidence is `predicted` and they have no speed-up. A table that `tune` writes has `proven` rows.
//!
//! The generated smoke test launches every row in the same way, on a `cpu` device with the largest limits:
//!
//! ```console
//! $ KILN_SMOKE_DEVICE=cpu cargo test --example 06-other-devices -- --nocapture
//! …
//! row_norms: baseline THREADS=64 for rows=64,cols=1000: launched as intended, grid=(64,1,1) block=(64,1,1) shared=0; max error … of its bound against the reference
//! row_norms: baked row 0 (cuda/sm_89/NVIDIA L4) THREADS=384 for rows=64,cols=1000: launched as intended, grid=(64,1,1) block=(384,1,1) shared=0; max error … of its bound against the reference
//! row_norms: baked row 1 (hip/gfx1151/Radeon 8060S) THREADS=256 for rows=64,cols=1000: launched as intended, grid=(64,1,1) block=(256,1,1) shared=0; max error … of its bound against the reference
//! row_norms on …: 3 launched as intended, 0 failed, 0 not run
//! …
//! ```
//!
//! Without `KILN_SMOKE_DEVICE`, a build with the feature `sim` of `kiln-gpu` compiles each row for the row's own GPU
//! and launches it on a [simulation](../../docs/simulated-gpus.md) of that GPU.
#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use kiln::receipt::{ExpectedReceipt, Receipt};
use kiln::rig::{Layout, Rig};
use kiln::{Buffer, Choice, Device, Forced, Stream, prepare, tuned_kernel};

const ROWS: usize = 64;
const COLS: usize = 1000;

#[tuned_kernel(
    source = "row_norms.cu",
    untuned = allow,
    params(THREADS in [64, 128, 256, 384]),
    baseline(THREADS = 64),
    grid(rows),
    block(THREADS),
    problems((rows = 64, cols = 1000)),
    work(flops = 2 * rows * cols, bytes = 4 * rows * cols),
    tolerance(relative = 1e-5),
    reference = row_norms_reference,
)]
unsafe extern "C" {
    /// `y[row]` is the Euclidean norm of a row of `x`, which is rows x cols, row-major.
    fn row_norms(rows: u32, cols: u32, #[len(rows * cols)] x: &[f32], #[len(rows)] y: &mut [f32]);
}

fn row_norms_reference(_rows: u32, cols: u32, x: &[f32], y: &mut [f64]) {
    for (y, row) in y.iter_mut().zip(x.chunks_exact(cols as usize)) {
        let squares = row.iter().map(|x| f64::from(*x) * f64::from(*x));
        *y = squares.sum::<f64>().sqrt();
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
    let kernel = &row_norms::KERNEL;
    let problem = &kernel.spec().problems[0];
    // A launch uses a row of another vendor or architecture only if the program forces that row.
    println!("here      {}", kernel.selection(stream.device(), problem));

    let baseline = norms(&stream)?;
    let mut receipts = Vec::new();
    for (number, row) in kernel.rows().iter().enumerate() {
        let choice = Choice::Row(number);
        let config = kernel.config(choice);
        println!(
            "row {number}     {}, {config}, {}",
            row.device, row.evidence
        );

        // On this stream, the launch function launches `choice` and selects nothing. The stream records its launches.
        let forced = Arc::new(Forced::new(kernel, choice));
        let output = norms(&stream.forced(forced.clone()))?;
        for launch in forced.take_launched() {
            println!("  forced  {}, {}", launch.selection, launch.plan);
        }

        let (receipt, intended) = receipt_of(&stream, choice)?;
        receipt.check(&intended)?;
        let (block, threads) = (receipt.block, receipt.threads);
        println!("  receipt block {block:?}, {threads} threads: as intended");
        receipts.push((receipt, intended));

        let far = |(a, b): (&f32, &f32)| (a - b).abs() > 1e-4 * b;
        if output.iter().zip(&baseline).any(far) {
            return Err("the row and the baseline give different outputs".into());
        }
        println!("  output  as the baseline's");
    }
    if let [(first, _), (_, second), ..] = receipts.as_slice()
        && let Err(mismatch) = first.check(&ExpectedReceipt {
            nonce: first.nonce,
            ..*second
        })
    {
        println!("if row 0 was launched where row 1 was meant: {mismatch}");
    }
    Ok(())
}

/// Computes the norms as a program does.
fn norms(stream: &Stream) -> Result<Vec<f32>, Box<dyn Error>> {
    let x: Vec<f32> = (0..ROWS * COLS).map(|i| (i % 7) as f32).collect();
    let x = Buffer::from_slice(stream, &x)?;
    let mut y = Buffer::<f32>::zeros(stream, ROWS)?;
    row_norms(stream, ROWS as u32, COLS as u32, &x, &mut y)?;
    Ok(y.to_vec(stream)?)
}

/// The device's receipt for a launch of this choice, and the receipt that is expected.
fn receipt_of(
    stream: &Stream,
    choice: Choice,
) -> Result<(Receipt, ExpectedReceipt), Box<dyn Error>> {
    let kernel = &row_norms::KERNEL;
    let device = stream.device();
    let problem = &kernel.spec().problems[0];
    let prepared = prepare::get(kernel, device, choice, problem)?;
    let plan = kernel.plan(choice, problem, Some(&device.info().limits))?;
    let spec = Arc::new(kernel.spec().clone());
    let rig = Rig::new(stream, &spec, problem, 1, Layout::Zones)?;
    let nonce = 7;
    let receipt = rig.launch_for_receipt(&prepared.receipt, &plan, nonce)?;
    let intended = ExpectedReceipt {
        nonce,
        symbol_hash: prepared.symbol_hash,
        config_hash: prepared.config_hash,
        plan,
    };
    Ok((receipt, intended))
}
