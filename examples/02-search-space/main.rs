//! # 2. The search space
//!
//! You learn how constraints select the valid configs from all combinations of parameter values, and how the grid, the
//! block and the shared memory follow from a config and the problem sizes.
//!
//! ```console
//! $ cargo run --example 02-search-space
//! 26 valid of 40 configs
//!   2 cut by TILE % STEP == 0
//!   10 cut by TILE / STEP * TILE <= device.max_threads_per_block
//!   8 cut by TILE * (TILE + PAD) * 4 <= device.shared_bytes_per_block
//!   12 cut by block within [1024, 1024, 64] and 1024 threads
//!   8 cut by shared memory within 49152 bytes
//! baseline  TILE=16,STEP=1,PAD=0: grid=(13,7,1) block=(16,16,1) shared=1024
//! the last  TILE=64,STEP=16,PAD=1: grid=(4,2,1) block=(64,4,1) shared=16640
//! refused   TILE=64,STEP=1,PAD=0: constraint `TILE / STEP * TILE <= device.max_threads_per_block` is false with STEP=1, TILE=64, device.max_threads_per_block=1024
//! the baseline transposes 100 x 200 floats
//! ```
//!
//! In any crate, `tune space` prints the same counts, and `tune space --configs` lists every config. (Your own crate
//! needs only `tune space`. Here `--features course` makes the examples visible to `tune`.)
//!
//! ```console
//! $ cargo tune space --package kiln-examples --features course --kernel transpose
//! transpose (rows=100,cols=200): 26 valid of 40 configs
//!             26 valid of TILE, STEP, PAD
//!              2 cut by TILE % STEP == 0  (others cut all of them)
//!             10 cut by TILE / STEP * TILE <= device.max_threads_per_block  (others cut all of them)
//!              8 cut by TILE * (TILE + PAD) * 4 <= device.shared_bytes_per_block  (others cut all of them)
//! …
//! ```
#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;

use kiln::spec::space::SearchSpace;
use kiln::{Buffer, Choice, Device, Stream, tuned_kernel};

#[tuned_kernel(
    source = "transpose.cu",
    untuned = allow,
    params(
        TILE in [8, 16, 32, 64, 128],
        STEP in [1, 2, 4, 16],
        PAD in [0, 1],
    ),
    // Every config must satisfy these conditions. Constraints over `device.*` are evaluated with the limits of the
    // device that the kernel runs on.
    where(
        TILE % STEP == 0,
        TILE / STEP * TILE <= device.max_threads_per_block,
        TILE * (TILE + PAD) * 4 <= device.shared_bytes_per_block,
    ),
    baseline(TILE = 16, STEP = 1, PAD = 0),
    // Kiln computes the geometry from the config, so the geometry always matches the config.
    grid(cols.div_ceil(TILE), rows.div_ceil(TILE)),
    block(TILE, TILE / STEP),
    shared(TILE * (TILE + PAD) * 4),
    problems((rows = 100, cols = 200)),
    work(bytes = 8 * rows * cols),
    reference = transpose_reference,
)]
unsafe extern "C" {
    /// `y` is the transpose of `x`, which is rows x cols, row-major.
    fn transpose(
        rows: u32,
        cols: u32,
        #[len(rows * cols)] x: &[f32],
        #[len(rows * cols)] y: &mut [f32],
    );
}

fn transpose_reference(rows: u32, cols: u32, x: &[f32], y: &mut [f64]) {
    let (rows, cols) = (rows as usize, cols as usize);
    for row in 0..rows {
        for col in 0..cols {
            y[col * rows + row] = f64::from(x[row * cols + col]);
        }
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
    look(&stream)?;
    launch(&stream)
}

/// Prints the search space under the limits of this device.
fn look(stream: &Stream) -> Result<(), Box<dyn Error>> {
    let kernel = &transpose::KERNEL;
    let spec = kernel.spec();
    let problem = &spec.problems[0];
    let limits = stream.device().info().limits;
    let space = SearchSpace::build(spec, problem, &limits)?;
    println!("{} valid of {} configs", space.len(), space.product_len());
    for cut in space.rejections() {
        if let Some(configs) = cut.configs.filter(|configs| *configs > 0) {
            println!("  {configs} cut by {}", cut.text);
        }
    }

    let plan = kernel.plan(Choice::Baseline, problem, Some(&limits))?;
    println!("baseline  {}: {plan}", spec.baseline.config);
    let last = space.config(space.len() - 1);
    println!(
        "the last  {last}: {}",
        spec.plan(&last, problem, Some(&limits))?
    );

    let too_many = spec.parse_config("TILE=64,STEP=1,PAD=0")?;
    if let Some(why) = space.why_invalid(&too_many) {
        println!("refused   {too_many}: {why}");
    }
    Ok(())
}

/// Launches the baseline, with the geometry that follows from its config.
fn launch(stream: &Stream) -> Result<(), Box<dyn Error>> {
    let (rows, cols) = (100, 200);
    let x: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
    let x_there = Buffer::from_slice(stream, &x)?;
    let mut y = Buffer::<f32>::zeros(stream, x.len())?;
    transpose(stream, rows as u32, cols as u32, &x_there, &mut y)?;

    let y = y.to_vec(stream)?;
    let moved = |at: usize| y[at % cols * rows + at / cols] == x[at];
    if !(0..x.len()).all(moved) {
        return Err("an element is not where it should be".into());
    }
    println!("the baseline transposes {rows} x {cols} floats");
    Ok(())
}
