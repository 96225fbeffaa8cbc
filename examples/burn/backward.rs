//! The gradients of the operation, for autodiff over any backend that supports the operation. The kernel computes the
//! output, and burn's own operations compute the gradients.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::autodiff::{Autodiff, NodeId};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, TensorMetadata};
use burn::tensor::Shape;

use crate::operation::{Outcome, TunedBackend};

impl<B: TunedBackend, C: CheckpointStrategy> TunedBackend for Autodiff<B, C> {
    fn tuned_layer_norm(
        x: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        epsilon: f32,
    ) -> Outcome<Self> {
        let operation = LayerNorm.prepare::<C>([x.node(), weight.node(), bias.node()]);
        match operation.compute_bound().stateful() {
            OpsKind::Tracked(mut operation) => {
                let inputs = [operation.checkpoint(&x), operation.checkpoint(&weight)];
                forward(x, weight, bias, epsilon, |y| {
                    operation.finish((inputs, epsilon), y)
                })
            }
            OpsKind::UnTracked(operation) => {
                forward(x, weight, bias, epsilon, |y| operation.finish(y))
            }
        }
    }
}

/// Computes the output on the inner backend. `finish` adds the output to the graph.
fn forward<B: TunedBackend, C: CheckpointStrategy>(
    x: FloatTensor<Autodiff<B, C>>,
    weight: FloatTensor<Autodiff<B, C>>,
    bias: FloatTensor<Autodiff<B, C>>,
    epsilon: f32,
    finish: impl FnOnce(FloatTensor<B>) -> FloatTensor<Autodiff<B, C>>,
) -> Outcome<Autodiff<B, C>> {
    let [x, weight, bias] = [x, weight, bias].map(|tensor| tensor.into_primitive());
    match B::tuned_layer_norm(x, weight, bias, epsilon) {
        Outcome::Output(y) => Outcome::Output(finish(y)),
        Outcome::Failed(error) => Outcome::Failed(error),
    }
}

/// The backward step. Its three parents are the tensor, the weight and the bias.
#[derive(Debug)]
struct LayerNorm;

impl<B: TunedBackend> Backward<B, 3> for LayerNorm {
    /// The nodes of the tensor and of the weight, and epsilon.
    type State = ([NodeId; 2], f32);

    fn backward(
        self,
        ops: Ops<Self::State, 3>,
        grads: &mut Gradients,
        checkpointer: &mut Checkpointer,
    ) {
        let grad = grads.consume::<B>(&ops.node);
        let (inputs, epsilon) = ops.state;
        let [x, weight] = inputs.map(|input| checkpointer.retrieve_node_output(input));
        let normal = Normal::<B>::of(x, epsilon);
        let [x, weight_node, bias] = ops.parents;
        if let Some(bias) = bias {
            grads.register::<B>(bias.id, sum_of_rows::<B>(grad.clone()));
        }
        if let Some(node) = weight_node {
            let product = B::float_mul(grad.clone(), normal.values.clone());
            grads.register::<B>(node.id, sum_of_rows::<B>(product));
        }
        if let Some(x) = x {
            let weight = along_rows::<B>(weight, &grad.shape());
            grads.register::<B>(x.id, normal.gradient(B::float_mul(grad, weight)));
        }
    }
}

/// A tensor that was normalised per row: the mean of the row was subtracted, and the result divided by the standard
/// deviation.
struct Normal<B: Backend> {
    values: FloatTensor<B>,
    /// One deviation per row.
    deviation: FloatTensor<B>,
}

impl<B: Backend> Normal<B> {
    fn of(x: FloatTensor<B>, epsilon: f32) -> Normal<B> {
        let mean = mean_of_row::<B>(x.clone());
        let apart = B::float_sub(x, mean);
        let variance = mean_of_row::<B>(B::float_mul(apart.clone(), apart.clone()));
        let deviation = B::float_sqrt(B::float_add_scalar(variance, epsilon.into()));
        Normal {
            values: B::float_div(apart, deviation.clone()),
            deviation,
        }
    }

    /// The gradient of the tensor, computed from `grad`, the gradient of the values:
    /// `(grad - mean(grad) - values * mean(grad * values)) / deviation`.
    fn gradient(self, grad: FloatTensor<B>) -> FloatTensor<B> {
        let mean = mean_of_row::<B>(grad.clone());
        let along = mean_of_row::<B>(B::float_mul(grad.clone(), self.values.clone()));
        let rest = B::float_sub(B::float_sub(grad, mean), B::float_mul(self.values, along));
        B::float_div(rest, self.deviation)
    }
}

fn mean_of_row<B: Backend>(tensor: FloatTensor<B>) -> FloatTensor<B> {
    let last = tensor.rank() - 1;
    B::float_mean_dim(tensor, last)
}

/// The sum over all dimensions except the last one.
fn sum_of_rows<B: Backend>(tensor: FloatTensor<B>) -> FloatTensor<B> {
    let shape = tensor.shape();
    let cols = shape[shape.num_dims() - 1];
    let rows = shape.num_elements() / cols.max(1);
    let matrix = B::float_reshape(tensor, Shape::new([rows, cols]));
    B::float_reshape(B::float_sum_dim(matrix, 0), Shape::new([cols]))
}

/// Reshapes a vector to the rank of `shape`, so that it broadcasts over all rows of a tensor of that shape.
fn along_rows<B: Backend>(vector: FloatTensor<B>, shape: &Shape) -> FloatTensor<B> {
    let mut dims = vec![1; shape.num_dims()];
    *dims.last_mut().expect("burn's tensors have dimensions") = vector.shape().num_elements();
    B::float_reshape(vector, Shape::from(dims))
}
