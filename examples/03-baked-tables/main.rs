//! # 3. Baked tables
//!
//! You learn how a tuned config gets from `tune` into a program, and how the program finds out which config it launches
//! and why.
//!
//! As long as nothing is tuned, the program launches the baseline:
//!
//! ```console
//! $ cargo run --example 03-baked-tables
//! rows=2048,cols=512: baseline: nothing is baked for this kernel
//!   launches THREADS=64,LANES=1
//! rows=1000,cols=500: baseline: nothing is baked for this kernel
//!   launches THREADS=64,LANES=1
//! y[0] is 1.5
//! ```
//!
//! Tune the kernel (search, verify, race, confirm, bake). In your own crate the command is just `tune`. Here
//! `--features course` makes the examples visible to it. A config for this machine's processor is useless on other
//! machines, so `tune` writes the config to `target/`, and into the repository only if you pass `--write`.
//!
//! ```console
//! $ cargo tune run --features course --kernel matvec
//! …
//! matvec  rows=2048,cols=512
//! …
//!   winner    THREADS=…,LANES=…
//!   proven    …x the baseline […] in … fresh processes, …
//! …
//! table: …/target/kiln/tuned/kiln-examples/matvec.toml (1 rows of this device)
//! …
//! ```
//!
//! Build the program with that table. Cargo rebuilds the program whenever the table changes:
//!
//! ```console
//! $ KILN_TUNED=$PWD/target/kiln/tuned/kiln-examples cargo run --example 03-baked-tables
//! rows=2048,cols=512: baked row 0: this device and problem
//!   launches THREADS=…,LANES=…
//! rows=1000,cols=500: baked row 0: nearest tuned problem (log2 distance 1.07), this device
//!   launches THREADS=…,LANES=…
//! y[0] is 1.5
//! ```
//!
//! Without `KILN_TUNED`, a build reads only the package's own folder `tuned/`. That folder is committed, and contains
//! the rows for the devices that you deploy to.
#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;

use kiln::{Buffer, Device, tuned_kernel};

// Each output is a sum of 512 products of numbers in [-1, 1). The tolerance allows any order of summation.
#[tuned_kernel(
    source = "matvec.cu",
    untuned = allow,
    params(
        THREADS in [64, 256],
        LANES in [1, 4, 16],
    ),
    baseline(THREADS = 64, LANES = 1),
    grid(rows.div_ceil(THREADS)),
    block(THREADS),
    problems((rows = 2048, cols = 512)),
    work(flops = 2 * rows * cols, bytes = 4 * (rows * cols + rows + cols)),
    tolerance(relative = 1e-5),
    reference = matvec_reference,
)]
unsafe extern "C" {
    /// `y = a * x`. The matrix `a` is rows x cols, row-major.
    fn matvec(
        rows: u32,
        cols: u32,
        #[len(rows * cols)] a: &[f32],
        #[len(cols)] x: &[f32],
        #[len(rows)] y: &mut [f32],
    );
}

fn matvec_reference(_rows: u32, cols: u32, a: &[f32], x: &[f32], y: &mut [f64]) {
    for (y, row) in y.iter_mut().zip(a.chunks_exact(cols as usize)) {
        let products = row
            .iter()
            .zip(x)
            .map(|(a, x)| f64::from(*a) * f64::from(*x));
        *y = products.sum();
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
    let kernel = &matvec::KERNEL;
    // A declared problem, and a problem that is not declared.
    for problem in [matvec::problem(2048, 512), matvec::problem(1000, 500)] {
        let selection = kernel.selection(stream.device(), &problem);
        println!("{problem}: {selection}");
        println!("  launches {}", kernel.config(selection.choice()));
    }

    // The launch function makes the same selection.
    let (rows, cols) = (1000, 500);
    let a = Buffer::from_slice(&stream, &vec![0.003_f32; rows * cols])?;
    let x = Buffer::from_slice(&stream, &vec![1.0_f32; cols])?;
    let mut y = Buffer::<f32>::zeros(&stream, rows)?;
    matvec(&stream, rows as u32, cols as u32, &a, &x, &mut y)?;
    println!("y[0] is {:.1}", y.to_vec(&stream)?[0]);
    Ok(())
}
