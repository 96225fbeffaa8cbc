//! The plain-Rust reference of a kernel, with typed access for the generated adapter.

use bytemuck::Pod;
use kiln_spec::expr::evaluate_int;
use kiln_spec::model::{PlainArg, PlainNumber};
use kiln_spec::{
    Access, ArgSpec, Config, ElemType, KernelSpec, Passing, PlanError, Problem, ProblemValue,
    ScalarArg, ScalarType, ScalarValue,
};

pub use crate::data::arg_data::{ArgData, DataError};

use crate::data::element::{Element, Scalar, for_elem_type};
use crate::data::fill::fill;
use crate::data::inputs_call;

/// Calls a body with the vector of a [`Wide`], whatever its type.
macro_rules! for_wide {
    ($wide:expr, $x:ident => $body:expr) => {
        match $wide {
            Wide::F64($x) | Wide::F32($x) | Wide::F16($x) | Wide::Bf16($x) => $body,
            Wide::I64($x) => $body,
            Wide::U64($x) => $body,
            Wide::I32($x) => $body,
            Wide::U32($x) => $body,
            Wide::I16($x) => $body,
            Wide::U16($x) => $body,
            Wide::I8($x) => $body,
            Wide::U8($x) => $body,
        }
    };
}

/// A slice in the type in which a reference computes.
///
/// Real types are `f64`; the variant tells the kernel's own type.
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
    /// Of an `f64` slice.
    F64(Vec<f64>),
    /// Of an `i64` slice.
    I64(Vec<i64>),
    /// Of a `u64` slice.
    U64(Vec<u64>),
    /// Of an `i16` slice.
    I16(Vec<i16>),
    /// Of a `u16` slice.
    U16(Vec<u16>),
    /// Of an `i8` slice.
    I8(Vec<i8>),
}

impl Wide {
    /// The kernel's type.
    pub fn elem_type(&self) -> ElemType {
        match self {
            Wide::F64(_) => ElemType::F64,
            Wide::F32(_) => ElemType::F32,
            Wide::F16(_) => ElemType::F16,
            Wide::Bf16(_) => ElemType::Bf16,
            Wide::I64(_) => ElemType::I64,
            Wide::U64(_) => ElemType::U64,
            Wide::I32(_) => ElemType::I32,
            Wide::U32(_) => ElemType::U32,
            Wide::I16(_) => ElemType::I16,
            Wide::U16(_) => ElemType::U16,
            Wide::I8(_) => ElemType::I8,
            Wide::U8(_) => ElemType::U8,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        for_wide!(self, x => x.len())
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every element as an `f64`; 64-bit integers beyond 2^53 are rounded.
    #[allow(clippy::unnecessary_cast, reason = "one of the types is f64")]
    pub fn to_f64s(&self) -> Vec<f64> {
        for_wide!(self, x => x.iter().map(|&x| x as f64).collect())
    }

    /// Every element, if the elements are integers.
    pub(crate) fn to_whole(&self) -> Option<Vec<i128>> {
        macro_rules! whole {
            ($($variant:ident)*) => {
                match self {
                    $(Wide::$variant(x) => Some(x.iter().map(|&x| x.into()).collect()),)*
                    _ => None,
                }
            };
        }
        whole!(I64 U64 I32 U32 I16 U16 I8 U8)
    }

    /// The bytes of the nearest elements of the kernel's type.
    pub fn narrow(&self) -> Vec<u8> {
        for_elem_type!(self.elem_type(), T => {
            let elements: Vec<T> = self.elements::<T>().iter().map(|&x| T::narrow(x)).collect();
            bytemuck::cast_slice(&elements).to_vec()
        })
    }

    /// The bytes of the elements in their own representation: real types as `f64`.
    pub(crate) fn wide_bytes(&self) -> &[u8] {
        for_wide!(self, x => bytemuck::cast_slice(x))
    }

    /// Elements from the bytes of [`Self::wide_bytes`]; `None` if their number is not a multiple of an element's
    /// size.
    pub(crate) fn of_wide_bytes(ty: ElemType, bytes: &[u8]) -> Option<Wide> {
        for_elem_type!(ty, T => {
            let whole = bytes.len().is_multiple_of(size_of::<<T as Element>::Wide>());
            whole.then(|| Wide::of_vec::<T>(bytemuck::pod_collect_to_vec(bytes)))
        })
    }

    /// The size of an element in [`Self::wide_bytes`].
    pub(crate) fn wide_size(ty: ElemType) -> usize {
        for_elem_type!(ty, T => size_of::<<T as Element>::Wide>())
    }

    /// The elements, as a reference computes them.
    ///
    /// # Panics
    /// If they have another type.
    pub(crate) fn elements<T: Element>(&self) -> &[T::Wide] {
        assert_eq!(
            self.elem_type(),
            T::TYPE,
            "the type of an output should be known"
        );
        for_wide!(self, x => bytemuck::cast_slice(x))
    }

    /// Elements that a reference computed.
    pub(crate) fn of_vec<T: Element>(elements: Vec<T::Wide>) -> Wide {
        match T::TYPE {
            ElemType::F64 => Wide::F64(pods(elements)),
            ElemType::F32 => Wide::F32(pods(elements)),
            ElemType::F16 => Wide::F16(pods(elements)),
            ElemType::Bf16 => Wide::Bf16(pods(elements)),
            ElemType::I64 => Wide::I64(pods(elements)),
            ElemType::U64 => Wide::U64(pods(elements)),
            ElemType::I32 => Wide::I32(pods(elements)),
            ElemType::U32 => Wide::U32(pods(elements)),
            ElemType::I16 => Wide::I16(pods(elements)),
            ElemType::U16 => Wide::U16(pods(elements)),
            ElemType::I8 => Wide::I8(pods(elements)),
            ElemType::U8 => Wide::U8(pods(elements)),
        }
    }

    /// Elements of the kernel's type, from bytes.
    pub fn of_bytes(ty: ElemType, bytes: &[u8]) -> Wide {
        for_elem_type!(ty, T => {
            let elements: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
            Wide::of_vec::<T>(elements.into_iter().map(T::widen).collect())
        })
    }

    /// The elements in the form that the generated adapter passes to the reference.
    fn into_vec<W: Pod>(self) -> Vec<W> {
        for_wide!(self, x => pods(x))
    }
}

/// Converts a vector to a type that generated code promises to be the same.
fn pods<A: Pod, B: Pod>(vec: Vec<A>) -> Vec<B> {
    bytemuck::try_cast_vec(vec)
        .map_err(|(error, _)| error)
        .expect("generated code should ask for the type that the spec declares")
}

/// The data of every argument for a problem, generated from a seed as the spec declares: first by `#[fill(..)]`, then
/// by the function that `inputs` names, which must have been registered with [`crate::data::inputs::provide`].
///
/// # Errors
/// If a declaration has no values for this problem.
pub fn make_data(
    spec: &KernelSpec,
    problem: &Problem,
    seed: u64,
) -> Result<Vec<ArgData>, DataError> {
    make_data_for(spec, &spec.baseline.config, problem, seed)
}

/// Like [`make_data`], with the lengths and computed arguments of a config instead of the baseline's.
///
/// # Errors
/// Those of [`make_data`].
pub fn make_data_for(
    spec: &KernelSpec,
    config: &Config,
    problem: &Problem,
    seed: u64,
) -> Result<Vec<ArgData>, DataError> {
    let data = spec
        .args
        .iter()
        .map(|arg| match arg {
            ArgSpec::Scalar(scalar) => {
                let value = match (&scalar.passing, problem.size(&scalar.name)) {
                    (Passing::Computed(expr), _) => {
                        ScalarValue::Int(spec.computed(scalar, expr, config, problem)?)
                    }
                    (_, Some(size)) => ScalarValue::Int(size),
                    (_, None) => scalar.value.ok_or_else(|| DataError::NoValue {
                        argument: scalar.name.clone(),
                    })?,
                };
                scalar_bytes(&scalar.name, scalar.ty, value).map(ArgData::Scalar)
            }
            ArgSpec::Plain(plain) => plain_bytes(plain, problem).map(ArgData::Scalar),
            ArgSpec::Slice(slice) => {
                let ty = spec.elem_type(slice, problem).unwrap_or(ElemType::F32);
                let len = spec.slice_len(&slice.len, config, problem)?;
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
        .collect::<Result<Vec<_>, DataError>>()?;
    inputs_call::make(spec, problem, seed, data)
}

/// The bytes of a struct or array; padding is zero.
fn plain_bytes(plain: &PlainArg, problem: &Problem) -> Result<Vec<u8>, DataError> {
    let mut bytes = vec![0; plain.value.layout().bytes];
    for (at, ty, number) in plain.value.numbers() {
        let value = match number {
            PlainNumber::Value(value) => *value,
            PlainNumber::Size(size) => {
                let what = "a field";
                let size =
                    evaluate_int(size, problem).map_err(|error| PlanError::Eval { what, error })?;
                let size =
                    i64::try_from(size).map_err(|_| PlanError::Size { what, value: size })?;
                ScalarValue::Int(size)
            }
        };
        let number = scalar_bytes(&plain.name, ty, value)?;
        bytes[at..at + number.len()].copy_from_slice(&number);
    }
    Ok(bytes)
}

/// The computed arguments of a launch in order, each at the start of a word.
pub(crate) fn computed_words(
    spec: &KernelSpec,
    config: &Config,
    problem: &Problem,
) -> Result<Vec<u64>, PlanError> {
    let computed = spec.args.iter().filter_map(|arg| match arg {
        ArgSpec::Scalar(scalar) => Some((scalar, arg.computed()?)),
        ArgSpec::Slice(_) | ArgSpec::Plain(_) => None,
    });
    let word = |(scalar, expr): (&ScalarArg, _)| {
        let value = spec.computed(scalar, expr, config, problem)?;
        // Two's complement: the low bytes of the value are the same in every narrower type that can represent it.
        Ok(u64::from_ne_bytes(value.to_ne_bytes()))
    };
    computed.map(word).collect()
}

fn scalar_bytes(name: &str, ty: ScalarType, value: ScalarValue) -> Result<Vec<u8>, DataError> {
    let bad = |value: &dyn std::fmt::Display| DataError::BadValue {
        argument: name.into(),
        value: value.to_string(),
        ty,
    };
    macro_rules! whole {
        ($T:ty, $x:expr) => {
            <$T>::try_from($x)
                .map_err(|_| bad(&$x))?
                .to_ne_bytes()
                .to_vec()
        };
    }
    Ok(match (ty, value) {
        (ScalarType::U64, ScalarValue::Int(x)) => whole!(u64, x),
        (ScalarType::I64, ScalarValue::Int(x)) => whole!(i64, x),
        (ScalarType::U32, ScalarValue::Int(x)) => whole!(u32, x),
        (ScalarType::I32, ScalarValue::Int(x)) => whole!(i32, x),
        (ScalarType::U16, ScalarValue::Int(x)) => whole!(u16, x),
        (ScalarType::I16, ScalarValue::Int(x)) => whole!(i16, x),
        (ScalarType::U8, ScalarValue::Int(x)) => whole!(u8, x),
        (ScalarType::I8, ScalarValue::Int(x)) => whole!(i8, x),
        (ScalarType::F32, ScalarValue::Int(x)) => (x as f32).to_ne_bytes().to_vec(),
        (ScalarType::F32, ScalarValue::Float(x)) => (x as f32).to_ne_bytes().to_vec(),
        (ScalarType::F64, ScalarValue::Int(x)) => (x as f64).to_ne_bytes().to_vec(),
        (ScalarType::F64, ScalarValue::Float(x)) => x.to_ne_bytes().to_vec(),
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
    /// If the problem has no such type parameter.
    pub fn elem_type(&self, name: &str) -> ElemType {
        match self.problem.get(name) {
            Some(ProblemValue::Type(ty)) => ty,
            _ => panic!("the problem should have the type parameter `{name}`"),
        }
    }

    /// The value of a scalar argument.
    ///
    /// # Panics
    /// If that argument is not a scalar of this type.
    pub fn scalar<T: Scalar>(&self, argument: usize) -> T {
        bytemuck::pod_read_unaligned(self.inputs[argument].bytes())
    }

    /// A number in a struct or array, by its offset in bytes.
    ///
    /// # Panics
    /// If that argument has no such number.
    pub fn field<T: Scalar>(&self, argument: usize, at: usize) -> T {
        let bytes = self.inputs[argument].bytes();
        bytemuck::pod_read_unaligned(&bytes[at..at + size_of::<T>()])
    }

    /// The elements of an input.
    ///
    /// # Panics
    /// If that argument is not a slice of this type.
    pub fn input<T: Element>(&self, argument: usize) -> Vec<T> {
        bytemuck::pod_collect_to_vec(self.inputs[argument].bytes())
    }

    /// Takes an output, to be computed and returned.
    ///
    /// # Panics
    /// If that argument is not an output of this type, or was taken already.
    pub fn take_output<T: Element>(&mut self, argument: usize) -> Vec<T::Wide> {
        self.outputs[argument]
            .take()
            .expect("an output should be taken once")
            .into_vec()
    }

    /// Returns a computed output.
    pub fn put_output<T: Element>(&mut self, argument: usize, output: Vec<T::Wide>) {
        self.outputs[argument] = Some(Wide::of_vec::<T>(output));
    }

    /// The computed output of an argument; `None` for inputs and scalars.
    pub fn output(&self, argument: usize) -> Option<&Wide> {
        self.outputs[argument].as_ref()
    }
}
