//! Root mean square normalisation as an operation of candle that launches a tuned kernel instead of candle's own.
//!
//! ```console
//! $ cargo run --bin candle
//! launch   …
//! receipt  …: launched as intended, …
//! output   8 rows of 512: the largest difference from candle's own operations is …
//! ```
//!
//! On the CPU, the kernel reads and writes candle's tensors in place. With `--features cuda` and a tensor on a GPU, the
//! adapter for cudarc queues the kernel on candle's own stream, between candle's operations.
#![forbid(unsafe_code)]

use candle_core::{CpuStorage, CustomOp2, Device, Error, Layout, Result, Shape, Tensor};
use kiln::interop;
use kiln_examples::tensors::{self, prove};
use kiln_kernels::rms_norm::{KERNEL, rms_norm};

/// The operation `x / sqrt(mean(x * x) + epsilon) * weight` along the last dimension.
struct RmsNorm {
    epsilon: f32,
}

/// The number of rows and of columns. All dimensions except the last one form the rows.
fn extents(x: &Layout, weight: &Layout) -> Result<(u32, u32)> {
    let weights = [("weight", weight.shape().elem_count())];
    tensors::extents(x.dims(), &weights).map_err(Error::wrap)
}

/// The range of a tensor's elements in its storage. A tensor that is not contiguous is an error.
fn contiguous(layout: &Layout) -> Result<std::ops::Range<usize>> {
    let (start, end) = layout
        .contiguous_offsets()
        .ok_or_else(|| Error::Msg("the tensor is not contiguous".into()).bt())?;
    Ok(start..end)
}

impl CustomOp2 for RmsNorm {
    fn name(&self) -> &'static str {
        "kiln-rms-norm"
    }

    fn cpu_fwd(
        &self,
        x: &CpuStorage,
        x_layout: &Layout,
        weight: &CpuStorage,
        weight_layout: &Layout,
    ) -> Result<(CpuStorage, Shape)> {
        let (rows, cols) = extents(x_layout, weight_layout)?;
        let x = &x.as_slice::<f32>()?[contiguous(x_layout)?];
        let weight = &weight.as_slice::<f32>()?[contiguous(weight_layout)?];
        let mut y = vec![0.0_f32; x.len()];
        let stream = kiln::Device::cpu().map_err(Error::wrap)?.stream();
        let x = interop::host_slice(&stream, x).map_err(Error::wrap)?;
        let weight = interop::host_slice(&stream, weight).map_err(Error::wrap)?;
        let mut out = interop::host_slice_mut(&stream, &mut y).map_err(Error::wrap)?;
        rms_norm(&stream, rows, cols, self.epsilon, &x, &weight, &mut out).map_err(Error::wrap)?;
        Ok((CpuStorage::F32(y), x_layout.shape().clone()))
    }

    #[cfg(feature = "cuda")]
    fn cuda_fwd(
        &self,
        x: &candle_core::CudaStorage,
        x_layout: &Layout,
        weight: &candle_core::CudaStorage,
        weight_layout: &Layout,
    ) -> Result<(candle_core::CudaStorage, Shape)> {
        use candle_core::cuda_backend::CudaStorage;

        let (rows, cols) = extents(x_layout, weight_layout)?;
        let device = x.device.clone();
        let stream = interop::cudarc_019::stream(device.cuda_stream()).map_err(Error::wrap)?;
        let x = x.as_cuda_slice::<f32>()?.slice(contiguous(x_layout)?);
        let weight = weight
            .as_cuda_slice::<f32>()?
            .slice(contiguous(weight_layout)?);
        let mut y = device.alloc_zeros::<f32>(x.len())?;
        rms_norm(
            &stream,
            rows,
            cols,
            self.epsilon,
            &stream.slice(&x).map_err(Error::wrap)?,
            &stream.slice(&weight).map_err(Error::wrap)?,
            &mut stream.slice_mut(&mut y).map_err(Error::wrap)?,
        )
        .map_err(Error::wrap)?;
        Ok((
            CudaStorage::wrap_cuda_slice(y, device),
            x_layout.shape().clone(),
        ))
    }
}

/// Computes the operation with candle's own operations.
fn by_candle(x: &Tensor, weight: &Tensor, epsilon: f64) -> Result<Tensor> {
    let mean = x.sqr()?.mean_keepdim(1)?;
    x.broadcast_div(&(mean + epsilon)?.sqrt()?)?
        .broadcast_mul(weight)
}

/// The largest difference between Kiln's and candle's results on random rows.
fn largest_difference(rows: usize, cols: usize, device: &Device) -> Result<f32> {
    let x = Tensor::randn(0.0_f32, 1.0, (rows, cols), device)?;
    let weight = Tensor::rand(0.5_f32, 1.5, cols, device)?;
    let epsilon = 1e-5_f32;
    let ours = x.apply_op2_no_bwd(&weight, &RmsNorm { epsilon })?;
    let theirs = by_candle(&x, &weight, f64::from(epsilon))?;
    (ours - theirs)?.abs()?.max_all()?.to_scalar()
}

fn main() -> Result<()> {
    if cfg!(feature = "cuda") {
        run(&Device::new_cuda(0)?, "cuda:0")
    } else {
        run(&Device::Cpu, "cpu")
    }
}

/// Runs the example on a device of candle. `name` is Kiln's name for the same device.
fn run(device: &Device, name: &str) -> Result<()> {
    let (rows, cols) = (8, 512);
    let kiln_device = kiln::open(name).map_err(Error::wrap)?;
    let problem = rms_norm::problem::<f32>(rows, cols);
    println!("launch   {}", KERNEL.selection(&kiln_device, &problem));
    let proof = prove(&KERNEL, &kiln_device, &problem).map_err(Error::msg)?;
    println!("receipt  {proof}");
    let largest = largest_difference(rows as usize, cols as usize, device)?;
    println!(
        "output   {rows} rows of {cols}: the largest difference from candle's own operations is {largest:.1e}"
    );
    if largest > 1e-5 {
        candle_core::bail!("the two differ");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kiln_tests::capability::{Need, have};

    use super::*;

    #[test]
    fn a_tuned_kernel_is_an_operation_of_candle_on_tensors_of_the_cpu() {
        let name = "a_tuned_kernel_is_an_operation_of_candle_on_tensors_of_the_cpu";
        if have(name, &[Need::HostCompiler]) {
            run(&Device::Cpu, "cpu").unwrap();
        }
    }
}
