//! [`AnyBuffer`], a buffer whose element type is known only at run time.

use std::any::Any;
use std::fmt;

use kiln_spec::ElemType;

use crate::data::buffer::Buffer;
use crate::data::element::{Element, for_elem_type};
use crate::device::DeviceError;
use crate::device::stream::Stream;

/// A [`Buffer`] whose element type is a run-time value.
pub(crate) struct AnyBuffer {
    ty: ElemType,
    buffer: Box<dyn Any>,
}

impl AnyBuffer {
    /// Creates a buffer from the bytes of its elements.
    pub(crate) fn of_bytes(
        stream: &Stream,
        ty: ElemType,
        bytes: &[u8],
    ) -> Result<AnyBuffer, DeviceError> {
        for_elem_type!(ty, T => {
            let host: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
            Buffer::from_slice(stream, &host).map(AnyBuffer::of_buffer)
        })
    }

    /// Wraps a typed buffer.
    pub(crate) fn of_buffer<T: Element>(buffer: Buffer<T>) -> AnyBuffer {
        AnyBuffer {
            ty: T::TYPE,
            buffer: Box::new(buffer),
        }
    }

    /// Returns the typed buffer. Panics if the element type is not `T`.
    pub(crate) fn into_buffer<T: Element>(self) -> Buffer<T> {
        *self
            .buffer
            .downcast()
            .unwrap_or_else(|_| panic!("a buffer of {} should be of {}", self.ty, T::TYPE))
    }

    /// Overwrites all elements. `bytes` must have the buffer's size.
    pub(crate) fn write(&mut self, stream: &Stream, bytes: &[u8]) -> Result<(), DeviceError> {
        for_elem_type!(self.ty, T => {
            let host: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
            self.of_type_mut::<T>().copy_from_slice(stream, &host)
        })
    }

    /// The bytes of all elements.
    pub(crate) fn read(&self, stream: &Stream) -> Result<Vec<u8>, DeviceError> {
        for_elem_type!(self.ty, T => {
            let host = self.of_type::<T>().to_vec(stream)?;
            Ok(bytemuck::cast_slice(&host).to_vec())
        })
    }

    fn of_type<T: Element>(&self) -> &Buffer<T> {
        self.buffer
            .downcast_ref()
            .expect("a buffer should be of the type it was made with")
    }

    fn of_type_mut<T: Element>(&mut self) -> &mut Buffer<T> {
        self.buffer
            .downcast_mut()
            .expect("a buffer should be of the type it was made with")
    }
}

impl fmt::Debug for AnyBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "buffer of {}", self.ty)
    }
}
