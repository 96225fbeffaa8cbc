//! Calls of a kernel's plain-Rust reference, and the values that a reference computes.

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
use crate::data::{inputs_call, scalars};

/// Evaluates an expression with the vector inside a [`Wide`], whatever the type of its elements.
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

/// The elements of a slice, in the type in which a reference computes.
///
/// Real types are stored as `f64`. The variant is the element type in the kernel.
#[derive(Clone, Debug, PartialEq)]
pub enum Wide {
    /// The elements of an `f32` slice.
    F32(Vec<f64>),
    /// The elements of an `f16` slice.
    F16(Vec<f64>),
    /// The elements of a `bf16` slice.
    Bf16(Vec<f64>),
    /// The elements of an `i32` slice.
    I32(Vec<i32>),
    /// The elements of a `u32` slice.
    U32(Vec<u32>),
    /// The elements of a `u8` slice.
    U8(Vec<u8>),
    /// The elements of an `f64` slice.
    F64(Vec<f64>),
    /// The elements of an `i64` slice.
    I64(Vec<i64>),
    /// The elements of a `u64` slice.
    U64(Vec<u64>),
    /// The elements of an `i16` slice.
    I16(Vec<i16>),
    /// The elements of a `u16` slice.
    U16(Vec<u16>),
    /// The elements of an `i8` slice.
    I8(Vec<i8>),
}

impl Wide {
    /// The element type in the kernel.
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

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every element as `f64`. 64-bit integers beyond 2^53 are rounded.
    #[allow(clippy::unnecessary_cast, reason = "one of the types is f64")]
    pub fn to_f64s(&self) -> Vec<f64> {
        for_wide!(self, x => x.iter().map(|&x| x as f64).collect())
    }

    /// Every element as an integer; `None` if the element type is real.
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

    /// The bytes of the elements, each rounded to the kernel's element type.
    pub fn narrow(&self) -> Vec<u8> {
        for_elem_type!(self.elem_type(), T => {
            let elements: Vec<T> = self.elements::<T>().iter().map(|&x| T::narrow(x)).collect();
            bytemuck::cast_slice(&elements).to_vec()
        })
    }

    /// The bytes of the elements as they are stored. Elements of real types are stored as `f64`.
    pub(crate) fn wide_bytes(&self) -> &[u8] {
        for_wide!(self, x => bytemuck::cast_slice(x))
    }

    /// Elements from the bytes that [`Self::wide_bytes`] returns; `None` if the number of bytes is not a multiple of
    /// an element's size.
    pub(crate) fn of_wide_bytes(ty: ElemType, bytes: &[u8]) -> Option<Wide> {
        for_elem_type!(ty, T => {
            let whole = bytes.len().is_multiple_of(size_of::<<T as Element>::Wide>());
            whole.then(|| Wide::of_vec::<T>(bytemuck::pod_collect_to_vec(bytes)))
        })
    }

    /// The size in bytes of an element in [`Self::wide_bytes`].
    pub(crate) fn wide_size(ty: ElemType) -> usize {
        for_elem_type!(ty, T => size_of::<<T as Element>::Wide>())
    }

    /// The elements in the type in which a reference computes.
    ///
    /// # Panics
    /// If the kernel's element type is not `T`.
    pub(crate) fn elements<T: Element>(&self) -> &[T::Wide] {
        assert_eq!(
            self.elem_type(),
            T::TYPE,
            "the type of an output should be known"
        );
        for_wide!(self, x => bytemuck::cast_slice(x))
    }

    /// Wraps elements that a reference computed.
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

    /// Converts elements from the bytes that a kernel uses.
    pub fn of_bytes(ty: ElemType, bytes: &[u8]) -> Wide {
        for_elem_type!(ty, T => {
            let elements: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
            Wide::of_vec::<T>(elements.into_iter().map(T::widen).collect())
        })
    }

    /// The vector of elements, as the generated adapter passes it to the reference.
    fn into_vec<W: Pod>(self) -> Vec<W> {
        for_wide!(self, x => pods(x))
    }
}

/// Converts a vector to the element type that generated code requests. Generated code guarantees that the types
/// match.
fn pods<A: Pod, B: Pod>(vec: Vec<A>) -> Vec<B> {
    bytemuck::try_cast_vec(vec)
        .map_err(|(error, _)| error)
        .expect("generated code should ask for the type that the spec declares")
}

/// Generates the data of every argument for a problem from a seed, as the spec declares. First, `#[fill(..)]` supplies
/// the values of slices. If the spec specifies a function with `inputs`, that function then changes these values. It
/// must have been registered with [`crate::data::inputs::provide`].
///
/// # Errors
/// If an argument has no valid value or length for this problem, or if the function of `inputs` is not registered.
pub fn make_data(
    spec: &KernelSpec,
    problem: &Problem,
    seed: u64,
) -> Result<Vec<ArgData>, DataError> {
    make_data_for(spec, &spec.baseline.config, problem, seed)
}

/// Like [`make_data`], but computes lengths and arguments for a config instead of the baseline's config.
///
/// The seed also decides whether scalars with a `#[value(..)]` have another value than the declared one. A kernel that
/// ignores such a scalar, or that is right for one value only, then computes wrong outputs.
///
/// # Errors
/// The errors of [`make_data`].
pub fn make_data_for(
    spec: &KernelSpec,
    config: &Config,
    problem: &Problem,
    seed: u64,
) -> Result<Vec<ArgData>, DataError> {
    let data = (spec.args.iter())
        .zip(scalars::first_indices(spec))
        .map(|(arg, first)| match arg {
            ArgSpec::Scalar(scalar) => {
                let value = match (&scalar.passing, problem.size(&scalar.name)) {
                    (Passing::Computed(expr), _) => {
                        ScalarValue::Int(spec.computed(scalar, expr, config, problem)?)
                    }
                    (_, Some(size)) => ScalarValue::Int(size),
                    (_, None) => {
                        let value = scalar.value.ok_or_else(|| DataError::NoValue {
                            argument: scalar.name.clone(),
                        })?;
                        scalars::of_seed(value, scalar.ty.is_integer(), (seed, first))
                    }
                };
                scalar_bytes(&scalar.name, scalar.ty, value).map(ArgData::Scalar)
            }
            ArgSpec::Plain(plain) => {
                plain_bytes(plain, problem, (seed, first)).map(ArgData::Scalar)
            }
            ArgSpec::Typed(typed) => {
                let ty = spec.type_of(&typed.ty, problem).unwrap_or(ElemType::F32);
                let value = scalars::of_seed(typed.value, scalars::is_integer(ty), (seed, first));
                Ok(ArgData::Scalar(element_bytes(ty, value)))
            }
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

/// The bytes of a struct or array that is passed by value. Padding is zero.
fn plain_bytes(
    plain: &PlainArg,
    problem: &Problem,
    (seed, first): (u64, usize),
) -> Result<Vec<u8>, DataError> {
    let mut bytes = vec![0; plain.value.layout().bytes];
    for (nth, (at, ty, number)) in (first..).zip(plain.value.numbers()) {
        let value = match number {
            PlainNumber::Value(value) => scalars::of_seed(*value, ty.is_integer(), (seed, nth)),
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

/// The computed arguments of a launch in order. Each value occupies the first bytes of its 64-bit word.
pub(crate) fn computed_words(
    spec: &KernelSpec,
    config: &Config,
    problem: &Problem,
) -> Result<Vec<u64>, PlanError> {
    let computed = spec.args.iter().filter_map(|arg| match arg {
        ArgSpec::Scalar(scalar) => Some((scalar, arg.computed()?)),
        ArgSpec::Slice(_) | ArgSpec::Plain(_) | ArgSpec::Typed(_) => None,
    });
    let word = |(scalar, expr): (&ScalarArg, _)| {
        let value = spec.computed(scalar, expr, config, problem)?;
        // In two's complement, the low bytes of the value are the same in every narrower type that can represent it.
        Ok(u64::from_ne_bytes(value.to_ne_bytes()))
    };
    computed.map(word).collect()
}

/// The bytes of a number of an element type.
fn element_bytes(ty: ElemType, value: ScalarValue) -> Vec<u8> {
    for_elem_type!(ty, T => {
        let number = match value {
            ScalarValue::Int(x) => T::from_whole(x.into()),
            ScalarValue::Float(x) => T::from_f64(x),
        };
        bytemuck::bytes_of(&number).to_vec()
    })
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

/// One call of a reference. It supplies the inputs and receives the outputs.
#[derive(Clone, Debug)]
pub struct ReferenceCall {
    problem: Problem,
    inputs: Vec<ArgData>,
    outputs: Vec<Option<Wide>>,
}

impl ReferenceCall {
    /// Creates a call with this data. Initially, outputs are zero and in-out arguments have the values in `inputs`.
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

    /// The problem for which the reference computes.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The element type that the problem assigns to a type parameter.
    ///
    /// # Panics
    /// If the problem has no such type parameter.
    pub fn elem_type(&self, name: &str) -> ElemType {
        match self.problem.get(name) {
            Some(ProblemValue::Type(ty)) => ty,
            _ => panic!("the problem should have the type parameter `{name}`"),
        }
    }

    /// The value of the scalar argument at an index.
    ///
    /// # Panics
    /// If the argument is not a scalar of this type.
    pub fn scalar<T: Scalar>(&self, argument: usize) -> T {
        bytemuck::pod_read_unaligned(self.inputs[argument].bytes())
    }

    /// The value at an index of an argument whose type is a 16-bit float or a type parameter.
    ///
    /// # Panics
    /// If the argument is not a number of this type.
    pub fn element<T: Element>(&self, argument: usize) -> T {
        bytemuck::pod_read_unaligned(self.inputs[argument].bytes())
    }

    /// The number at the byte offset `at` in an argument that is a struct or an array passed by value.
    ///
    /// # Panics
    /// If the argument has no such number.
    pub fn field<T: Scalar>(&self, argument: usize, at: usize) -> T {
        let bytes = self.inputs[argument].bytes();
        bytemuck::pod_read_unaligned(&bytes[at..at + size_of::<T>()])
    }

    /// The elements of the input slice at an index.
    ///
    /// # Panics
    /// If the argument is not a slice of this type.
    pub fn input<T: Element>(&self, argument: usize) -> Vec<T> {
        bytemuck::pod_collect_to_vec(self.inputs[argument].bytes())
    }

    /// Takes the elements of an output, so that the reference can compute them. The computed elements are passed to
    /// [`Self::put_output`].
    ///
    /// # Panics
    /// If the argument is not an output of this type, or if it was already taken.
    pub fn take_output<T: Element>(&mut self, argument: usize) -> Vec<T::Wide> {
        self.outputs[argument]
            .take()
            .expect("an output should be taken once")
            .into_vec()
    }

    /// Stores a computed output.
    pub fn put_output<T: Element>(&mut self, argument: usize, output: Vec<T::Wide>) {
        self.outputs[argument] = Some(Wide::of_vec::<T>(output));
    }

    /// The computed output of an argument; `None` for inputs and scalars.
    pub fn output(&self, argument: usize) -> Option<&Wide> {
        self.outputs[argument].as_ref()
    }
}
