//! # 7. Embedding in your own program
//!
//! You learn how a program keeps its own streams and buffers, when kernels are compiled, what later launches cost, and
//! that errors are values.
//!
//! ```console
//! $ cargo run --example 07-embedding
//! ready   mix_… for cpu/…
//! thread  0: the mean of 100 frames is 0.5
//! thread  1: the mean of 100 frames is 1.5
//! 10000 launches, … ns each
//! refused: kernel `mix`: `a` has 8 elements, but `#[len(n)]` is 4096 here
//! refused: device `toaster` was not found: …
//! and goes on: 2.0
//! ```
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use kiln::{Buffer, Device, Error, LaunchCause, LaunchError, Stream, tuned_kernel};

/// Samples per frame.
const FRAME: usize = 4096;

#[tuned_kernel(
    source = "mix.cu",
    untuned = allow,
    params(
        THREADS in [64, 128, 256],
        ITEMS in [1, 2, 4],
    ),
    baseline(THREADS = 64, ITEMS = 1),
    grid(n.div_ceil(THREADS * ITEMS)),
    block(THREADS),
    problems((n = 4096)),
    work(flops = 3 * n, bytes = 12 * n),
    reference = mix_reference,
)]
unsafe extern "C" {
    /// `y = share * a + (1 - share) * b`.
    fn mix(
        n: u32,
        #[value(0.25)] share: f32,
        #[len(n)] a: &[f32],
        #[len(n)] b: &[f32],
        #[len(n)] y: &mut [f32],
    );
}

fn mix_reference(_n: u32, share: f32, a: &[f32], b: &[f32], y: &mut [f64]) {
    let share = f64::from(share);
    for (y, (a, b)) in y.iter_mut().zip(a.iter().zip(b)) {
        *y = share * f64::from(*a) + (1.0 - share) * f64::from(*b);
    }
}

/// Mixes pairs of frames. It has its own stream, and allocates its buffers once.
struct Mixer {
    stream: Stream,
    a: Buffer<f32>,
    b: Buffer<f32>,
    y: Buffer<f32>,
}

impl Mixer {
    fn new(device: &Device) -> Result<Mixer, Error> {
        let stream = device.new_stream()?;
        let frame = || Buffer::zeros(&stream, FRAME);
        let (a, b, y) = (frame()?, frame()?, frame()?);
        Ok(Mixer { stream, a, b, y })
    }

    /// Copies two frames to the device, mixes them there, and copies the result back.
    fn mix(&mut self, share: f32, a: &[f32; FRAME], b: &[f32; FRAME]) -> Result<Vec<f32>, Error> {
        self.a.copy_from_slice(&self.stream, a)?;
        self.b.copy_from_slice(&self.stream, b)?;
        self.launch(share)?;
        // `to_vec` waits for the work that is queued on the stream.
        Ok(self.y.to_vec(&self.stream)?)
    }

    /// Mixes the data that is already on the device.
    fn launch(&mut self, share: f32) -> Result<(), LaunchError> {
        mix(
            &self.stream,
            FRAME as u32,
            share,
            &self.a,
            &self.b,
            &mut self.y,
        )
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

fn run() -> Result<(), Error> {
    let device = Device::cpu()?;
    get_ready(&device)?;
    on_two_threads(&device)?;
    let mut mixer = Mixer::new(&device)?;
    launch_often(&mut mixer)?;
    go_wrong(&mut mixer)?;
    let mixed = mixer.mix(0.5, &[1.0; FRAME], &[3.0; FRAME])?;
    println!("and goes on: {:.1}", mixed[0]);
    Ok(())
}

/// Compiles and loads the kernel at start-up, so no launch waits for a compiler. The compiled code is cached on disk.
fn get_ready(device: &Device) -> Result<(), Error> {
    let kernel = &mix::KERNEL;
    let problem = &kernel.spec().problems[0];
    let prepared = kernel.prepare(device, problem)?;
    println!(
        "ready   {} for {}",
        prepared.release.symbol(),
        device.info().key
    );
    Ok(())
}

/// Each thread has its own stream and buffers. The threads share the loaded kernel.
fn on_two_threads(device: &Device) -> Result<(), Error> {
    let mean = |number: usize| -> Result<f32, Error> {
        let mut mixer = Mixer::new(device)?;
        let mut sum = 0.0;
        for frame in 0..100 {
            let a = [number as f32; FRAME];
            let b = [number as f32 + frame as f32 / 49.5; FRAME];
            sum += mixer.mix(0.5, &a, &b)?[FRAME - 1];
        }
        Ok(sum / 100.0)
    };
    let means = thread::scope(|scope| {
        let threads = [0, 1].map(|number| scope.spawn(move || mean(number)));
        threads.map(|thread| thread.join().expect("a thread should not panic"))
    });
    for (number, mean) in means.into_iter().enumerate() {
        println!("thread  {number}: the mean of 100 frames is {:.1}", mean?);
    }
    Ok(())
}

/// Each thread remembers its last selection, so a launch with the same sizes needs no lock and no allocation.
fn launch_often(mixer: &mut Mixer) -> Result<(), Error> {
    mixer.launch(0.5)?;
    let launches = 10_000;
    let start = Instant::now();
    for _ in 0..launches {
        mixer.launch(0.5)?;
    }
    mixer.stream.synchronize()?;
    let each = start.elapsed().as_nanos() / launches;
    println!("{launches} launches, {each} ns each");
    Ok(())
}

/// Errors are values that describe the mistake. The device remains usable after each of these errors.
fn go_wrong(mixer: &mut Mixer) -> Result<(), Error> {
    let short = Buffer::<f32>::zeros(&mixer.stream, 8)?;
    let launched = mix(
        &mixer.stream,
        FRAME as u32,
        0.5,
        &short,
        &mixer.b,
        &mut mixer.y,
    );
    match launched {
        Err(error) if matches!(error.cause(), LaunchCause::Length { .. }) => {
            println!("refused: {error}");
        }
        other => other?,
    }
    if let Err(error) = Device::open("toaster") {
        println!("refused: {error}");
    }
    Ok(())
}
