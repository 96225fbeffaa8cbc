//! The plain-Rust reference of a kernel: typed access for the generated adapter.

use bytemuck::Pod;
use half::{bf16, f16};
use kiln_spec::{
    Access, ArgSpec, ElemType, KernelSpec, PlanError, Problem, ProblemValue, ScalarType,
    ScalarValue,
};
use thiserror::Error;

use crate::element::{Element, Scalar};
use crate::fill::{FillError, fill};

/// A slice in the type that a reference computes in.
///
/// Real types are `f64`; the variant says what the kernel's own type is.
#[derive(Clone, Debug, PartialEq)]
pub enum Wide {
    /// Of an `f32` slice.
    F32(Vec<f64>),
    /// Of an `f16` slice.
    F16(Vec<f64>),
    /// Of a `bf16` slice.
    Bf16(Vec<f64>),
    /// Of an `i32` slice.
    I32(Vec<i32>),
    /// Of a `u32` slice.
    U32(Vec<u32>),
    /// Of a `u8` slice.
    U8(Vec<u8>),
}

impl Wide {
    /// The kernel's type.
    pub fn elem_type(&self) -> ElemType {
        match self {
            Wide::F32(_) => ElemType::F32,
            Wide::F16(_) => ElemType::F16,
            Wide::Bf16(_) => ElemType::Bf16,
            Wide::I32(_) => ElemType::I32,
            Wide::U32(_) => ElemType::U32,
            Wide::U8(_) => ElemType::U8,
        }
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        match self {
            Wide::F32(x) | Wide::F16(x) | Wide::Bf16(x) => x.len(),
            Wide::I32(x) => x.len(),
            Wide::U32(x) => x.len(),
            Wide::U8(x) => x.len(),
        }
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every element as an `f64`, which all of them fit.
    pub fn to_f64s(&self) -> Vec<f64> {
        match self {
            Wide::F32(x) | Wide::F16(x) | Wide::Bf16(x) => x.clone(),
            Wide::I32(x) => x.iter().map(|&x| x.into()).collect(),
            Wide::U32(x) => x.iter().map(|&x| x.into()).collect(),
            Wide::U8(x) => x.iter().map(|&x| x.into()).collect(),
        }
    }

    /// The bytes of the nearest elements of the kernel's type.
    pub fn narrow(&self) -> Vec<u8> {
        fn nearest<T: Element<Wide = W>, W: Copy>(wide: &[W]) -> Vec<u8> {
            let elements: Vec<T> = wide.iter().map(|&x| T::narrow(x)).collect();
            bytemuck::cast_slice(&elements).to_vec()
        }
        match self {
            Wide::F32(x) => nearest::<f32, _>(x),
            Wide::F16(x) => nearest::<f16, _>(x),
            Wide::Bf16(x) => nearest::<bf16, _>(x),
            Wide::I32(x) => nearest::<i32, _>(x),
            Wide::U32(x) => nearest::<u32, _>(x),
            Wide::U8(x) => nearest::<u8, _>(x),
        }
    }

    /// Elements of the kernel's type, given as bytes.
    pub fn of_bytes(ty: ElemType, bytes: &[u8]) -> Wide {
        fn real<T: Element>(bytes: &[u8]) -> Vec<f64> {
            let elements: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
            elements.into_iter().map(Element::to_f64).collect()
        }
        match ty {
            ElemType::F32 => Wide::F32(real::<f32>(bytes)),
            ElemType::F16 => Wide::F16(real::<f16>(bytes)),
            ElemType::Bf16 => Wide::Bf16(real::<bf16>(bytes)),
            ElemType::I32 => Wide::I32(bytemuck::pod_collect_to_vec(bytes)),
            ElemType::U32 => Wide::U32(bytemuck::pod_collect_to_vec(bytes)),
            ElemType::U8 => Wide::U8(bytemuck::pod_collect_to_vec(bytes)),
        }
    }

    /// The elements, as the generated adapter hands them to the reference.
    fn into_vec<W: Pod>(self) -> Vec<W> {
        match self {
            Wide::F32(x) | Wide::F16(x) | Wide::Bf16(x) => pods(x),
            Wide::I32(x) => pods(x),
            Wide::U32(x) => pods(x),
            Wide::U8(x) => pods(x),
        }
    }
}

/// A vector as one of a type that generated code promises to be the same.
fn pods<A: Pod, B: Pod>(vec: Vec<A>) -> Vec<B> {
    bytemuck::try_cast_vec(vec)
        .map_err(|(error, _)| error)
        .expect("generated code should ask for the type that the spec declares")
}

/// Why the data of a launch cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DataError {
    /// An input cannot be made.
    #[error(transparent)]
    Fill(#[from] FillError),
    /// A slice has no length for this problem.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A scalar that is no problem size has no declared value.
    #[error("`{argument}` is no problem size and has no `#[value(..)]`")]
    NoValue {
        /// The argument.
        argument: String,
    },
    /// A scalar's value does not fit its type.
    #[error("`{argument}` is {value}, which is no {ty}")]
    BadValue {
        /// The argument.
        argument: String,
        /// Its value.
        value: String,
        /// Its type.
        ty: ScalarType,
    },
    /// A slice does not fit into the address space.
    #[error("`{argument}` has {len} elements, more than this machine can address")]
    TooLarge {
        /// The argument.
        argument: String,
        /// Its length.
        len: u64,
    },
}

/// The data of one argument on the host.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgData {
    /// The bytes of a scalar.
    Scalar(Vec<u8>),
    /// The bytes of a slice before the launch. Outputs are zero.
    Slice(Vec<u8>),
}

impl ArgData {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            ArgData::Scalar(bytes) | ArgData::Slice(bytes) => bytes,
        }
    }
}

/// The data of every argument for a problem, made from a seed as the spec declares.
///
/// # Errors
/// When a declaration has no values for this problem.
pub fn make_data(
    spec: &KernelSpec,
    problem: &Problem,
    seed: u64,
) -> Result<Vec<ArgData>, DataError> {
    spec.args
        .iter()
        .map(|arg| match arg {
            ArgSpec::Scalar(scalar) => {
                let value = match problem.size(&scalar.name) {
                    Some(size) => ScalarValue::Int(size),
                    None => scalar.value.ok_or_else(|| DataError::NoValue {
                        argument: scalar.name.clone(),
                    })?,
                };
                scalar_bytes(&scalar.name, scalar.ty, value).map(ArgData::Scalar)
            }
            ArgSpec::Slice(slice) => {
                let ty = spec.elem_type(slice, problem).unwrap_or(ElemType::F32);
                let len = spec.slice_len(&slice.len, problem)?;
                let host_len = usize::try_from(len)
                    .ok()
                    .filter(|len| len.checked_mul(ty.bytes()).is_some())
                    .ok_or_else(|| DataError::TooLarge {
                        argument: slice.name.clone(),
                        len,
                    })?;
                Ok(ArgData::Slice(match slice.access {
                    Access::Out => vec![0; host_len * ty.bytes()],
                    Access::In | Access::InOut => fill(slice, ty, host_len, problem, seed)?,
                }))
            }
        })
        .collect()
}

fn scalar_bytes(name: &str, ty: ScalarType, value: ScalarValue) -> Result<Vec<u8>, DataError> {
    let bad = |value: &dyn std::fmt::Display| DataError::BadValue {
        argument: name.into(),
        value: value.to_string(),
        ty,
    };
    Ok(match (ty, value) {
        (ScalarType::U32, ScalarValue::Int(x)) => u32::try_from(x)
            .map_err(|_| bad(&x))?
            .to_ne_bytes()
            .to_vec(),
        (ScalarType::I32, ScalarValue::Int(x)) => i32::try_from(x)
            .map_err(|_| bad(&x))?
            .to_ne_bytes()
            .to_vec(),
        (ScalarType::U64, ScalarValue::Int(x)) => u64::try_from(x)
            .map_err(|_| bad(&x))?
            .to_ne_bytes()
            .to_vec(),
        (ScalarType::I64, ScalarValue::Int(x)) => x.to_ne_bytes().to_vec(),
        (ScalarType::F32, ScalarValue::Int(x)) => (x as f32).to_ne_bytes().to_vec(),
        (ScalarType::F32, ScalarValue::Float(x)) => (x as f32).to_ne_bytes().to_vec(),
        (_, ScalarValue::Float(x)) => return Err(bad(&x)),
    })
}

/// One call of a reference: inputs in, outputs out.
#[derive(Clone, Debug)]
pub struct ReferenceCall {
    problem: Problem,
    inputs: Vec<ArgData>,
    outputs: Vec<Option<Wide>>,
}

impl ReferenceCall {
    /// A call with this data. Outputs start as zeros, in-out arguments as their data.
    pub fn new(spec: &KernelSpec, problem: &Problem, inputs: Vec<ArgData>) -> ReferenceCall {
        let outputs = spec
            .args
            .iter()
            .zip(&inputs)
            .map(|(arg, data)| match arg {
                ArgSpec::Slice(slice) if slice.access != Access::In => {
                    let ty = spec.elem_type(slice, problem).unwrap_or(ElemType::F32);
                    Some(Wide::of_bytes(ty, data.bytes()))
                }
                _ => None,
            })
            .collect();
        ReferenceCall {
            problem: problem.clone(),
            inputs,
            outputs,
        }
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The element type of a type parameter.
    ///
    /// # Panics
    /// When the problem has no such type parameter.
    pub fn elem_type(&self, name: &str) -> ElemType {
        match self.problem.get(name) {
            Some(ProblemValue::Type(ty)) => ty,
            _ => panic!("the problem should have the type parameter `{name}`"),
        }
    }

    /// The value of a scalar argument.
    ///
    /// # Panics
    /// When that argument is no scalar of this type.
    pub fn scalar<T: Scalar>(&self, argument: usize) -> T {
        bytemuck::pod_read_unaligned(self.inputs[argument].bytes())
    }

    /// The elements of an input.
    ///
    /// # Panics
    /// When that argument is no slice of this type.
    pub fn input<T: Element>(&self, argument: usize) -> Vec<T> {
        bytemuck::pod_collect_to_vec(self.inputs[argument].bytes())
    }

    /// Takes an output out, to be computed and given back.
    ///
    /// # Panics
    /// When that argument is no output of this type, or was taken already.
    pub fn take_output<T: Element>(&mut self, argument: usize) -> Vec<T::Wide> {
        self.outputs[argument]
            .take()
            .expect("an output should be taken once")
            .into_vec()
    }

    /// Gives a computed output back.
    pub fn put_output<T: Element>(&mut self, argument: usize, output: Vec<T::Wide>) {
        self.outputs[argument] = Some(match T::TYPE {
            ElemType::F32 => Wide::F32(pods(output)),
            ElemType::F16 => Wide::F16(pods(output)),
            ElemType::Bf16 => Wide::Bf16(pods(output)),
            ElemType::I32 => Wide::I32(pods(output)),
            ElemType::U32 => Wide::U32(pods(output)),
            ElemType::U8 => Wide::U8(pods(output)),
        });
    }

    /// The computed output of an argument; `None` for inputs and scalars.
    pub fn output(&self, argument: usize) -> Option<&Wide> {
        self.outputs[argument].as_ref()
    }
}
