//! # 5. Several element types, and alignment
//!
//! You learn how to declare, tune and launch one kernel for several element types, and how Kiln prevents a vector load
//! from an unaligned slice.
//!
//! ```console
//! $ cargo run --example 05-element-types
//! f32   [0.5, 1.0, 1.5, 2.0, 2.5]
//! f16   [0.5, 1.0, 1.5, 2.0, 2.5]
//! bf16  [0.5, 1.0, 1.5, 2.0, 2.5]
//! T=f32,n=1000000: baseline: nothing is baked for this kernel
//! T=f16,n=1000000: baseline: nothing is baked for this kernel
//! T=bf16,n=1000000: baseline: nothing is baked for this kernel
//! a view from element 1: kernel `scale`: `x` at address … is not aligned to 8 bytes, which the config's vector loads need
//! help: pass a whole buffer, or a view that starts at a multiple of 8 bytes
//! a view from element 2: [1.5, 2.0, 2.5]
//! ```
#![forbid(unsafe_code)]

use std::error::Error;
use std::process::ExitCode;

use kiln::{Buffer, Device, Element, LaunchCause, Stream, bf16, f16, tuned_kernel};

#[tuned_kernel(
    source = "scale.cu",
    untuned = allow,
    // `T` is the first dimension of every problem. Here `tune` tunes three problems, and each gets its own row.
    types(T in [f32, f16, bf16]),
    params(
        THREADS in [64, 128, 256],
        VECTOR_WIDTH in [2, 4, 8],
    ),
    baseline(THREADS = 128, VECTOR_WIDTH = 2),
    grid(n.div_ceil(THREADS * VECTOR_WIDTH)),
    block(THREADS),
    problems((n = 1000000)),
    work(flops = n, bytes = 2 * n * size_of(T)),
    // The output is rounded once, to bf16, which has 8 significant bits. A kernel whose outputs can be f16 or bf16 must
    // declare a tolerance.
    tolerance(relative = 4e-3),
    reference = scale_reference,
)]
unsafe extern "C" {
    /// `y = factor * x` over n elements.
    fn scale(
        n: u32,
        // `factor` is not a problem size. Verification, timing and smoke tests use this value.
        #[value(0.5)] factor: f32,
        // The kernel loads `VECTOR_WIDTH` elements at once, so the slice must be aligned to that many elements. Every
        // launch checks this.
        #[len(n)]
        #[align(VECTOR_WIDTH)]
        x: &[T],
        #[len(n)]
        #[align(VECTOR_WIDTH)]
        y: &mut [T],
    );
}

/// One reference serves all types, because real outputs are computed in `f64`.
fn scale_reference<T: Element>(_n: u32, factor: f32, x: &[T], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = f64::from(factor) * x.to_f64();
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
    println!("f32   {:?}", halved::<f32>(&stream)?);
    println!("f16   {:?}", halved::<f16>(&stream)?);
    println!("bf16  {:?}", halved::<bf16>(&stream)?);

    let kernel = &scale::KERNEL;
    for problem in &kernel.spec().problems {
        println!("{problem}: {}", kernel.selection(stream.device(), problem));
    }
    alignment(&stream)
}

/// The launch function is generic over `T`. It accepts only the declared types.
fn halved<T: scale::T>(stream: &Stream) -> Result<Vec<f64>, Box<dyn Error>> {
    let x = [1.0, 2.0, 3.0, 4.0, 5.0].map(T::from_f64);
    let x = Buffer::from_slice(stream, &x)?;
    let mut y = Buffer::<T>::zeros(stream, 5)?;
    scale(stream, 5, 0.5, &x, &mut y)?;
    Ok(y.to_vec(stream)?.into_iter().map(T::to_f64).collect())
}

/// Launches on two views. The baseline loads two floats at once, so only the second view is aligned.
fn alignment(stream: &Stream) -> Result<(), Box<dyn Error>> {
    let x = Buffer::from_slice(stream, &[1.0_f32, 2.0, 3.0, 4.0, 5.0])?;
    let mut y = Buffer::<f32>::zeros(stream, 5)?;
    let refused = scale(stream, 4, 0.5, &x.view(1..), &mut y.view_mut(..4));
    match refused {
        Err(error) if matches!(error.cause(), LaunchCause::Alignment { .. }) => {
            println!("a view from element 1: {error}");
        }
        other => return Err(format!("it should be refused, but: {other:?}").into()),
    }
    scale(stream, 3, 0.5, &x.view(2..), &mut y.view_mut(..3))?;
    println!("a view from element 2: {:?}", y.view(..3).to_vec(stream)?);
    Ok(())
}
