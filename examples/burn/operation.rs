//! The operation as users call it, and the trait by which burn's backends have it.

use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, ExtensionType, backend_extension};
use burn::tensor::{DType, Tensor};
use kiln_examples::tensors::ExtentError;
use thiserror::Error;

/// Layer normalisation along the last dimension: `(x - mean) / sqrt(variance + epsilon) * weight + bias`.
///
/// # Errors
/// If the tensors do not fit, or the launch fails.
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

/// The backends of burn that have the operation.
#[backend_extension(Flex, Autodiff)]
pub trait TunedBackend: Backend {
    /// The operation on the tensors of this backend.
    fn tuned_layer_norm(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        epsilon: f32,
    ) -> Outcome<Self>;
}

/// The result of the operation: burn passes on structs and enums of tensors, but not `Result`.
#[derive(ExtensionType)]
pub enum Outcome<B: Backend> {
    /// The output.
    Output(FloatTensor<B>),
    /// Why there is none.
    Failed(OperationError),
}

/// Why there is no output.
#[derive(Debug, Error)]
pub enum OperationError {
    /// The kernel takes another type.
    #[error("the elements of the {name} are {found:?} instead of F32")]
    Type {
        /// The tensor.
        name: &'static str,
        /// The type of its elements.
        found: DType,
    },
    /// The sizes do not fit.
    #[error(transparent)]
    Extents(#[from] ExtentError),
    /// Nothing was launched.
    #[error(transparent)]
    Launch(#[from] kiln::Error),
}
