//! # 4. Verification
//!
//! You learn what the outputs of a kernel are compared with, on which inputs, and how closely. You also see what a
//! wrong result looks like, and what the generated smoke test does.
//!
//! ```console
//! $ cargo run --example 04-verification
//! n=257,classes=257: right, max error … of its bound
//! n=256,classes=256: right, max error … of its bound
//! n=127,classes=127: right, max error … of its bound
//! n=1,classes=1: right, max error … of its bound
//! n=127,classes=1: right, max error … of its bound
//! n=256,classes=1: right, max error … of its bound
//! n=10000,classes=100: right, max error … of its bound
//! against a reference that is 0.1 % larger: p[…] is …, but should be …: error …, bound …
//! ```
//!
//! `tune` does all of this with each config before it times the config. The macro generates the smoke test next to the
//! launch function. The smoke test launches the baseline and every baked row, and compares their receipts and outputs
//! with the expected ones. It needs no GPU.
//!
//! ```console
//! $ cargo test --example 04-verification -- --nocapture
//! …
//! likelihood: baseline THREADS=128,ITEMS=1 for n=10000,classes=100: launched as intended, grid=(79,1,1) block=(128,1,1) shared=0; max error … of its bound against the reference
//! …
//! ```
//!
//! The reference is a function of this program, so the installed `tune` cannot call it. `tune` compares candidates with
//! the baseline instead, and its report says so. A crate can have its own `tune`, linked with its references: see the
//! documentation of `kiln-tuner`. The smoke test always uses the reference.
#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use kiln::prepare::{self, Prepared};
use kiln::reference::Wide;
use kiln::rig::{Expected, Layout, Rig};
use kiln::spec::verification::verification_problems;
use kiln::spec::{KernelSpec, Problem};
use kiln::{Choice, Device, ReferenceFn, Stream, tuned_kernel};

/// The position of `p` among the arguments, from 0.
const P: usize = 4;

#[tuned_kernel(
    source = "likelihood.cu",
    untuned = allow,
    params(
        THREADS in [128, 256],
        ITEMS in [1, 2, 4],
    ),
    baseline(THREADS = 128, ITEMS = 1),
    grid(n.div_ceil(THREADS * ITEMS)),
    block(THREADS),
    problems((n = 10000, classes = 100)),
    // The fast exponential has an error of a few units in the last place. The tolerance 2e-6 allows that error, but not
    // a mistake in the kernel.
    tolerance(relative = 2e-6),
    reference = likelihood_reference,
)]
unsafe extern "C" {
    /// `p[i] = exp(log_p[label[i]])`.
    fn likelihood(
        n: u32,
        classes: u32,
        // Without this bound, the random integers would be invalid indices.
        #[len(n)]
        #[fill(below(classes))]
        label: &[u32],
        // Logarithms of probabilities.
        #[len(classes)]
        #[fill(uniform(-8, 0))]
        log_p: &[f32],
        #[len(n)] p: &mut [f32],
    );
}

/// The simplest implementation, in plain Rust and higher precision.
fn likelihood_reference(_n: u32, _classes: u32, label: &[u32], log_p: &[f32], p: &mut [f64]) {
    for (p, label) in p.iter_mut().zip(label) {
        *p = f64::from(log_p[*label as usize]).exp();
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
    let kernel = &likelihood::KERNEL;
    let reference = kernel.reference().ok_or("the spec names a reference")?;
    let spec = Arc::new(kernel.spec().clone());
    let own = &spec.problems[0];
    let prepared = prepare::get(kernel, stream.device(), Choice::Baseline, own)?;

    // First small problems, derived from the tile sizes, which have every kind of incomplete tile. Then the declared
    // problem.
    let limits = stream.device().info().limits;
    let mut problems = verification_problems(&spec, &[], own, Some(&limits));
    problems.push(own.clone());
    for problem in &problems {
        verify(&stream, &spec, prepared, reference, problem)?;
    }
    refuse(&stream, &spec, prepared, reference, own)
}

/// Launches the baseline on inputs generated from a seed, in guarded memory, and compares the outputs.
fn verify(
    stream: &Stream,
    spec: &Arc<KernelSpec>,
    prepared: &Prepared,
    reference: ReferenceFn,
    problem: &Problem,
) -> Result<(), Box<dyn Error>> {
    let expected = Expected::by_reference(reference, spec, problem, 7)?;
    // With `Fences`, an access next to a buffer ends the process at once. With guard zones (`Zones`), a stray write is
    // detected after the launch.
    let rig = Rig::new(stream, spec, problem, 7, Layout::Fences)?;
    let limits = stream.device().info().limits;
    let plan = spec.baseline_plan(problem, Some(&limits))?;
    rig.launch(&prepared.release, &plan)?;
    let worst = rig.check(&expected)?;
    println!("{problem}: right, max error {worst:.3} of its bound");
    Ok(())
}

/// Repeats the comparison as if the kernel had a relative error of 0.1 %, and expects the comparison to fail.
fn refuse(
    stream: &Stream,
    spec: &Arc<KernelSpec>,
    prepared: &Prepared,
    reference: ReferenceFn,
    problem: &Problem,
) -> Result<(), Box<dyn Error>> {
    let mut expected = Expected::by_reference(reference, spec, problem, 7)?;
    if let Some(Wide::F32(p)) = expected.output(P).cloned() {
        let larger = p.iter().map(|p| p * 1.001);
        expected.insert(P, Wide::F32(larger.collect()));
    }
    let rig = Rig::new(stream, spec, problem, 7, Layout::Zones)?;
    let limits = stream.device().info().limits;
    rig.launch(
        &prepared.release,
        &spec.baseline_plan(problem, Some(&limits))?,
    )?;
    match rig.check(&expected) {
        Ok(_) => Err("an error of 0.1 % should not pass".into()),
        Err(wrong) => {
            println!("against a reference that is 0.1 % larger: {wrong}");
            Ok(())
        }
    }
}
