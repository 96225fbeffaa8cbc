//! Layer normalisation, with gradients, as an operation of burn that launches a tuned kernel instead of burn's own.
//!
//! ```console
//! $ cargo run --bin burn
//! launch     …
//! receipt    …: launched as intended, …
//! output     8 rows of 512: the largest difference from burn's own operation is …
//! gradients  the largest differences are … (tensor), … (weight) and … (bias)
//! ```
//!
//! The operation extends burn's backends with a trait (`operation.rs`), as burn's book describes. On `Flex`, burn's
//! backend for CPUs, the kernel reads and writes the memory of burn's tensors (`forward.rs`). On `Autodiff`, burn's own
//! operations compute the gradients (`backward.rs`).
#![forbid(unsafe_code)]

mod backward;
mod forward;
mod operation;

use std::error::Error;
use std::process::ExitCode;

use burn::tensor::{Device, Distribution, Gradients, Tensor, module};
use kiln_examples::tensors::prove;
use kiln_kernels::layer_norm::{KERNEL, layer_norm as kernel};

use crate::operation::{OperationError, layer_norm};

const EPSILON: f32 = 1e-5;

/// An input, and the parameters of a layer. All three tensors require gradients.
struct Layer {
    x: Tensor<2>,
    weight: Tensor<1>,
    bias: Tensor<1>,
}

impl Layer {
    fn random(rows: usize, cols: usize) -> Layer {
        let device = Device::flex().autodiff();
        let vector = || Tensor::random([cols], Distribution::Uniform(0.5, 1.5), &device);
        Layer {
            x: Tensor::random([rows, cols], Distribution::Normal(1.0, 2.0), &device).require_grad(),
            weight: vector().require_grad(),
            bias: vector().require_grad(),
        }
    }

    fn by_kiln(&self) -> Result<Tensor<2>, OperationError> {
        let (x, weight, bias) = (self.x.clone(), self.weight.clone(), self.bias.clone());
        layer_norm(x, weight, bias, EPSILON)
    }

    fn by_burn(&self) -> Tensor<2> {
        let (x, weight, bias) = (self.x.clone(), self.weight.clone(), self.bias.clone());
        module::layer_norm(x, weight, Some(bias), EPSILON.into())
    }
}

/// The largest differences between Kiln's and burn's operation on random rows: of the output, then of the gradients of
/// the tensor, the weight and the bias.
fn largest_differences(rows: usize, cols: usize) -> Result<[f32; 4], OperationError> {
    let layer = Layer::random(rows, cols);
    let (ours, theirs) = (layer.by_kiln()?, layer.by_burn());
    let factors = Tensor::random([rows, cols], Distribution::Default, &ours.device());
    let by_kiln = (ours.clone() * factors.clone()).sum().backward();
    let by_burn = (theirs.clone() * factors).sum().backward();
    Ok([
        largest(ours - theirs),
        gradients_apart(&layer.x, &by_kiln, &by_burn),
        gradients_apart(&layer.weight, &by_kiln, &by_burn),
        gradients_apart(&layer.bias, &by_kiln, &by_burn),
    ])
}

fn largest<const D: usize>(difference: Tensor<D>) -> f32 {
    difference.abs().max().into_scalar()
}

/// The largest difference between two gradients of a tensor, or infinity if a gradient is missing.
fn gradients_apart<const D: usize>(tensor: &Tensor<D>, a: &Gradients, b: &Gradients) -> f32 {
    match (tensor.grad(a), tensor.grad(b)) {
        (Some(a), Some(b)) => largest(a - b),
        _ => f32::INFINITY,
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let (rows, cols) = (8, 512);
    let device = kiln::Device::cpu()?;
    let problem = kernel::problem::<f32>(rows, cols);
    println!("launch     {}", KERNEL.selection(&device, &problem));
    println!("receipt    {}", prove(&KERNEL, &device, &problem)?);
    let differences = largest_differences(rows as usize, cols as usize)?;
    let [output, x, weight, bias] = differences;
    println!(
        "output     {rows} rows of {cols}: the largest difference from burn's own operation is {output:.1e}"
    );
    println!(
        "gradients  the largest differences are {x:.1e} (tensor), {weight:.1e} (weight) and {bias:.1e} (bias)"
    );
    if differences.iter().all(|&difference| difference <= 1e-5) {
        return Ok(());
    }
    Err("the two differ".into())
}

#[cfg(test)]
mod tests {
    use burn::tensor::FloatDType;
    use kiln_tests::capability::{Need, have};

    use super::*;

    #[test]
    fn a_tuned_kernel_is_an_operation_of_burn_with_gradients() {
        let name = "a_tuned_kernel_is_an_operation_of_burn_with_gradients";
        if have(name, &[Need::HostCompiler]) {
            run().unwrap();
        }
    }

    #[test]
    fn a_view_is_normalised_along_its_own_rows() {
        let name = "a_view_is_normalised_along_its_own_rows";
        if have(name, &[Need::HostCompiler]) {
            let layer = Layer::random(64, 8);
            let columns = Layer {
                x: Tensor::random([8, 64], Distribution::Default, &layer.x.device()).transpose(),
                ..layer
            };
            let difference = largest(columns.by_kiln().unwrap() - columns.by_burn());
            assert!(difference <= 1e-5, "{difference}");
        }
    }

    #[test]
    fn tensors_that_do_not_fit_are_errors() {
        let Layer { x, weight, bias } = Layer::random(2, 8);
        let short = weight.clone().slice(0..7);
        let error = layer_norm(x.clone(), short, bias.clone(), EPSILON).unwrap_err();
        assert_eq!(error.to_string(), "the weight has 7 elements, a row has 8");
        let wide = x.cast(FloatDType::F64);
        let error = layer_norm(wide, weight, bias, EPSILON).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the elements of the tensor are F64 instead of F32"
        );
    }
}
