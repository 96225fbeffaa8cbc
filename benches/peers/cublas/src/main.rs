//! A peer for `tune bench --peer 'kiln-cublas-peer'`. It computes the products of `gemm` and `gemm_f16` with cuBLAS on
//! the first CUDA device.
//!
//! The program implements the protocol of docs/peers.md. Sums are in single precision, and TF32 is off, which is the
//! default of cuBLAS.

mod element;
mod ffi;
mod product;

use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use serde_json::{Value, json};

use product::{CublasGpu, Product};

/// A request of `tune`, which is one line of JSON on standard input.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum ProductRequest {
    Open(Open),
    Time(u32),
    Write(BTreeMap<String, PathBuf>),
}

/// The request to prepare a kernel: its sizes, its types and its arguments.
#[derive(Deserialize)]
pub struct Open {
    /// The name of the kernel.
    pub kernel: String,
    /// The sizes and types of the problem, by name.
    pub problem: BTreeMap<String, Value>,
    /// The slices and scalars, in the order of the kernel's arguments.
    pub args: Vec<ArgFile>,
}

/// An argument of the kernel.
#[derive(Deserialize)]
pub struct ArgFile {
    /// The name of the argument.
    pub name: String,
    /// The element type.
    #[serde(rename = "type", default)]
    pub ty: String,
    /// The file with the values of a slice, as they are in memory; `None` for a scalar.
    pub file: Option<PathBuf>,
}

fn main() -> Result<()> {
    let gpu = CublasGpu::open()?;
    let mut answers = std::io::stdout().lock();
    let mut say = |answer: Value| -> Result<()> {
        writeln!(answers, "{answer}")?;
        Ok(answers.flush()?)
    };
    say(json!({"peer": gpu.name()}))?;
    let mut opened: Option<Box<dyn Product>> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let request = serde_json::from_str(&line).with_context(|| format!("the request {line}"))?;
        let answer = match (request, &mut opened) {
            (ProductRequest::Open(open), place) => match gpu.product(&open)? {
                Some(mut product) => {
                    product.run()?;
                    gpu.wait()?;
                    *place = Some(product);
                    json!({"opened": "cuBLAS gemm", "threads": 1})
                }
                None => json!({"unsupported": format!("cuBLAS has no {}", open.kernel)}),
            },
            (ProductRequest::Time(calls), Some(product)) => time(&gpu, product.as_mut(), calls)?,
            (ProductRequest::Write(files), Some(product)) => {
                for (name, file) in &files {
                    std::fs::write(file, product.output(name)?)
                        .with_context(|| file.display().to_string())?;
                }
                json!({"written": true})
            }
            (_, None) => bail!("nothing is opened yet"),
        };
        say(answer)?;
    }
    Ok(())
}

/// Number of calls before the first event. They keep the device busy while the host queues the timed calls.
const FILLERS: u32 = 8;

/// The total time of `calls` calls on the device, and the host's time and CPU time for all calls until the last one is
/// done.
fn time(gpu: &CublasGpu, product: &mut dyn Product, calls: u32) -> Result<Value> {
    gpu.wait()?;
    let (start, cpu) = (Instant::now(), cpu_ns());
    for _ in 0..FILLERS {
        product.run()?;
    }
    let first = gpu.event()?;
    for _ in 0..calls {
        product.run()?;
    }
    let last = gpu.event()?;
    gpu.wait()?;
    let ns = u64::try_from(start.elapsed().as_nanos())?;
    let device_ns = CublasGpu::between_ns(&first, &last)?;
    Ok(json!({"ns": ns, "cpu_ns": cpu_ns() - cpu, "device_ns": device_ns}))
}

/// The CPU time of all threads of this process, in nanoseconds.
fn cpu_ns() -> i64 {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
