//! The operation that users call, and the trait that adds the operation to burn's backends.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, ExtensionType, backend_extension};
use burn::tensor::{DType, Tensor};
use kiln_examples::tensors::ExtentError;
use thiserror::Error;

/// Layer normalisation along the last dimension: `(x - mean) / sqrt(variance + epsilon) * weight + bias`.
///
/// # Errors
/// If the shapes or the element type do not fit the kernel, or if the launch fails.
pub fn layer_norm<const D: usize>(
    x: Tensor<D>,
    weight: Tensor<1>,
    bias: Tensor<1>,
    epsilon: f32,
) -> Result<Tensor<D>, OperationError> {
    let [weight, bias] = [weight, bias].map(Tensor::into_dispatch);
    match Dispatch::tuned_layer_norm(x.into_dispatch(), weight, bias, epsilon) {
        Outcome::Output(y) => Ok(Tensor::from_dispatch(y)),
        Outcome::Failed(error) => Err(error),
    }
}

/// A backend of burn that supports the operation.
#[backend_extension(Flex, Autodiff)]
pub trait TunedBackend: Backend {
    /// Runs the operation on tensors of this backend.
    fn tuned_layer_norm(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        epsilon: f32,
    ) -> Outcome<Self>;
}

/// The result of the operation. Burn's extensions can return structs and enums of tensors, but not `Result`.
#[derive(ExtensionType)]
pub enum Outcome<B: Backend> {
    /// The normalised tensor.
    Output(FloatTensor<B>),
    /// Why no output was computed.
    Failed(OperationError),
}

/// Why the operation has no output.
#[derive(Debug, Error)]
pub enum OperationError {
    /// The elements of a tensor are not `f32`, which the kernel requires.
    #[error("the elements of the {name} are {found:?} instead of F32")]
    Type {
        /// The name of the tensor.
        name: &'static str,
        /// The type of the tensor's elements.
        found: DType,
    },
    /// The shapes of the tensors do not fit together.
    #[error(transparent)]
    Extents(#[from] ExtentError),
    /// The launch failed.
    #[error(transparent)]
    Launch(#[from] kiln::Error),
}
