//! Matrices on the GPU, and their products.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use cudarc::cublas::{CudaBlas, Gemm};
use cudarc::driver::sys::CUevent_flags_enum::CU_EVENT_DEFAULT;
use cudarc::driver::{CudaContext, CudaEvent, CudaSlice, CudaStream};
use half::{bf16, f16};

use crate::element::FileElement;
use crate::ffi::{self, ProductShape};
use crate::{ArgFile, Open};

/// The first CUDA device, and cuBLAS on it.
pub struct CublasGpu {
    name: String,
    stream: Arc<CudaStream>,
    blas: Arc<CudaBlas>,
}

/// A prepared product of two matrices.
pub trait Product {
    /// Queues the product once.
    fn run(&mut self) -> Result<()>;
    /// The bytes of the output with this name.
    fn output(&self, name: &str) -> Result<Vec<u8>>;
}

impl CublasGpu {
    /// Opens the first CUDA device.
    pub fn open() -> Result<CublasGpu> {
        ensure!(ffi::driver_is_there(), "there is no CUDA driver (libcuda)");
        ensure!(ffi::cublas_is_there(), "there is no cuBLAS (libcublas)");
        let context = CudaContext::new(0).context("the first CUDA device")?;
        let stream = context.default_stream();
        let blas = CudaBlas::new(stream.clone()).context("cuBLAS")?;
        Ok(CublasGpu {
            name: format!("cuBLAS on {}", context.name()?),
            stream,
            blas: Arc::new(blas),
        })
    }

    /// The name of this peer in reports: cuBLAS and the device.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits for all queued work.
    pub fn wait(&self) -> Result<()> {
        Ok(self.stream.synchronize()?)
    }

    /// Records an event after all queued work.
    pub fn event(&self) -> Result<CudaEvent> {
        Ok(self.stream.record_event(Some(CU_EVENT_DEFAULT))?)
    }

    /// The time between two completed events, in nanoseconds.
    pub fn between_ns(first: &CudaEvent, last: &CudaEvent) -> Result<u64> {
        Ok((f64::from(first.elapsed_ms(last)?) * 1e6) as u64)
    }

    /// The product that a kernel computes; `None` if cuBLAS does not have such a product.
    pub fn product(&self, open: &Open) -> Result<Option<Box<dyn Product>>> {
        let ty = open.args.iter().find(|arg| arg.file.is_some());
        let ty = ty.map_or("", |arg| arg.ty.as_str());
        Ok(match (open.kernel.as_str(), ty) {
            ("gemm" | "gemm_f16", "f32") => Some(self.matrices::<f32>(open)?),
            ("gemm" | "gemm_f16", "f16") => Some(self.matrices::<f16>(open)?),
            ("gemm" | "gemm_f16", "bf16") => Some(self.matrices::<bf16>(open)?),
            _ => None,
        })
    }

    fn matrices<T: FileElement>(&self, open: &Open) -> Result<Box<dyn Product>>
    where
        CudaBlas: Gemm<T>,
    {
        let size = |name: &str| {
            let size = open.problem.get(name).and_then(serde_json::Value::as_u64);
            usize::try_from(size.with_context(|| format!("the size {name}"))?).context("a size")
        };
        let shape = ProductShape {
            m: size("m")?,
            n: size("n")?,
            k: size("k")?,
        };
        let matrix = |name: &str, len: usize| -> Result<CudaSlice<T>> {
            let values = values::<T>(&open.args, name)?;
            ensure!(
                values.len() == len,
                "{name} has {} elements, {len} are meant",
                values.len()
            );
            Ok(self.stream.clone_htod(&values)?)
        };
        Ok(Box::new(Matrices {
            stream: self.stream.clone(),
            blas: self.blas.clone(),
            a: matrix("a", shape.m * shape.k)?,
            b: matrix("b", shape.k * shape.n)?,
            c: self.stream.alloc_zeros(shape.m * shape.n)?,
            shape,
        }))
    }
}

fn values<T: FileElement>(args: &[ArgFile], name: &str) -> Result<Vec<T>> {
    let file = args.iter().find(|arg| arg.name == name);
    let file = file.and_then(|arg| arg.file.as_ref());
    let file = file.with_context(|| format!("the matrix {name}"))?;
    let bytes = std::fs::read(file).with_context(|| file.display().to_string())?;
    let elements = bytes.chunks_exact(size_of::<T>());
    Ok(elements.map(T::of_bytes).collect())
}

/// The product `c = a * b` of row-major matrices.
struct Matrices<T> {
    stream: Arc<CudaStream>,
    blas: Arc<CudaBlas>,
    shape: ProductShape,
    a: CudaSlice<T>,
    b: CudaSlice<T>,
    c: CudaSlice<T>,
}

impl<T: FileElement> Product for Matrices<T>
where
    CudaBlas: Gemm<T>,
{
    fn run(&mut self) -> Result<()> {
        ffi::multiply(&self.blas, self.shape, &self.a, &self.b, &mut self.c)
    }

    fn output(&self, name: &str) -> Result<Vec<u8>> {
        if name != "c" {
            bail!("there is no output {name}");
        }
        let values = self.stream.clone_dtoh(&self.c)?;
        Ok(values.into_iter().flat_map(T::bytes).collect())
    }
}
