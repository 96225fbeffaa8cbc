//! [`LaunchCall`], which calls a generated launch function with arguments that are known only at run time.

use kiln_spec::{ArgSpec, ElemType, KernelSpec, Problem, ProblemValue};

use crate::data::any_buffer::AnyBuffer;
use crate::data::buffer::Buffer;
use crate::data::element::{Element, Scalar};
use crate::data::reference::ArgData;
use crate::device::error::DeviceError;
use crate::device::stream::Stream;

/// One call of a launch function with arguments that are known only at run time, as in a smoke test.
#[derive(Debug)]
pub struct LaunchCall<'a> {
    stream: &'a Stream,
    problem: &'a Problem,
    args: Vec<CallArg>,
}

#[derive(Debug)]
enum CallArg {
    Scalar(Vec<u8>),
    Slice(Option<AnyBuffer>),
}

impl<'a> LaunchCall<'a> {
    /// Creates a call and copies `data` to the stream's device.
    pub(crate) fn new(
        spec: &KernelSpec,
        stream: &'a Stream,
        problem: &'a Problem,
        data: &[ArgData],
    ) -> Result<LaunchCall<'a>, DeviceError> {
        let args = spec.args.iter().zip(data).map(|(arg, data)| match arg {
            ArgSpec::Scalar(_) | ArgSpec::Plain(_) | ArgSpec::Typed(_) => {
                Ok::<_, DeviceError>(CallArg::Scalar(data.bytes().to_vec()))
            }
            ArgSpec::Slice(slice) => {
                let ty = spec.elem_type(slice, problem).unwrap_or(ElemType::F32);
                let buffer = AnyBuffer::of_bytes(stream, ty, data.bytes())?;
                Ok(CallArg::Slice(Some(buffer)))
            }
        });
        Ok(LaunchCall {
            stream,
            problem,
            args: args.collect::<Result<_, _>>()?,
        })
    }

    /// Overwrites the slice argument at an index.
    pub(crate) fn write(&mut self, argument: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        match &mut self.args[argument] {
            CallArg::Slice(Some(buffer)) => buffer.write(self.stream, bytes),
            _ => Ok(()),
        }
    }

    /// Copies the slice argument at an index to the host.
    pub(crate) fn read(&self, argument: usize) -> Result<Vec<u8>, DeviceError> {
        match &self.args[argument] {
            CallArg::Slice(Some(buffer)) => buffer.read(self.stream),
            _ => Ok(Vec::new()),
        }
    }

    /// The stream on which the function launches.
    pub fn stream(&self) -> &'a Stream {
        self.stream
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
        match &self.args[argument] {
            CallArg::Scalar(bytes) => bytemuck::pod_read_unaligned(bytes),
            CallArg::Slice(_) => panic!("argument {argument} should be a scalar"),
        }
    }

    /// The value at an index of an argument whose type is a 16-bit float or a type parameter.
    ///
    /// # Panics
    /// If the argument is not a number of this type.
    pub fn element<T: Element>(&self, argument: usize) -> T {
        match &self.args[argument] {
            CallArg::Scalar(bytes) => bytemuck::pod_read_unaligned(bytes),
            CallArg::Slice(_) => panic!("argument {argument} should be a number"),
        }
    }

    /// The number at the byte offset `at` in an argument that is a struct or an array passed by value.
    ///
    /// # Panics
    /// If the argument has no such number.
    pub fn field<T: Scalar>(&self, argument: usize, at: usize) -> T {
        match &self.args[argument] {
            CallArg::Scalar(bytes) => bytemuck::pod_read_unaligned(&bytes[at..at + size_of::<T>()]),
            CallArg::Slice(_) => panic!("argument {argument} should be passed by value"),
        }
    }

    /// Takes the buffer of a slice argument, to pass it to the launch function. After the launch, [`Self::put`] stores
    /// the buffer again.
    ///
    /// # Panics
    /// If the argument is not a slice of this type, or if its buffer was already taken.
    pub fn take<T: Element>(&mut self, argument: usize) -> Buffer<T> {
        match &mut self.args[argument] {
            CallArg::Slice(buffer) => buffer
                .take()
                .expect("a buffer should be taken once")
                .into_buffer(),
            CallArg::Scalar(_) => panic!("argument {argument} should be a slice"),
        }
    }

    /// Stores the buffer of a slice argument after the launch.
    pub fn put<T: Element>(&mut self, argument: usize, buffer: Buffer<T>) {
        self.args[argument] = CallArg::Slice(Some(AnyBuffer::of_buffer(buffer)));
    }
}
