//! The operation on `Flex`, burn's backend for CPUs: the kernel reads and writes the memory of burn's tensors.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Flex, TensorMetadata};
use burn::tensor::TensorData;
use kiln::interop;
use kiln_examples::tensors::extents;
use kiln_kernels::layer_norm::layer_norm;

use crate::operation::{OperationError, Outcome, TunedBackend};

type FlexTensor = FloatTensor<Flex>;

impl TunedBackend for Flex {
    fn tuned_layer_norm(
        x: FlexTensor,
        weight: FlexTensor,
        bias: FlexTensor,
        epsilon: f32,
    ) -> Outcome<Flex> {
        match forward(&x, &weight, &bias, epsilon) {
            Ok(y) => Outcome::Output(y),
            Err(error) => Outcome::Failed(error),
        }
    }
}

fn forward(
    x: &FlexTensor,
    weight: &FlexTensor,
    bias: &FlexTensor,
    epsilon: f32,
) -> Result<FlexTensor, OperationError> {
    let shape = x.shape();
    let length = |tensor: &FlexTensor| tensor.shape().num_elements();
    let extents = extents(
        &shape,
        &[("weight", length(weight)), ("bias", length(bias))],
    )?;
    // Tensors that are already contiguous are not copied. Slices and transposed views are.
    let [x, weight, bias] = [x, weight, bias].map(FlexTensor::to_contiguous);
    let inputs = [
        elements("tensor", &x)?,
        elements("weight", &weight)?,
        elements("bias", &bias)?,
    ];
    let mut y = vec![0.0; shape.num_elements()];
    launch(extents, epsilon, inputs, &mut y)?;
    Ok(FlexTensor::from_data(TensorData::new(y, shape)))
}

/// The elements of a contiguous tensor, without a copy.
fn elements<'a>(name: &'static str, tensor: &'a FlexTensor) -> Result<&'a [f32], OperationError> {
    let found = tensor.dtype();
    tensor
        .as_slice()
        .ok_or(OperationError::Type { name, found })
}

fn launch(
    (rows, cols): (u32, u32),
    epsilon: f32,
    [x, weight, bias]: [&[f32]; 3],
    y: &mut [f32],
) -> Result<(), kiln::Error> {
    let stream = kiln::Device::cpu()?.stream();
    let x = interop::host_slice(&stream, x)?;
    let weight = interop::host_slice(&stream, weight)?;
    let bias = interop::host_slice(&stream, bias)?;
    let mut y = interop::host_slice_mut(&stream, y)?;
    layer_norm(&stream, rows, cols, epsilon, &x, &weight, &bias, &mut y)?;
    Ok(())
}
