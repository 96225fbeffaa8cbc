//! The data of launches: buffers and slices, their element types, and the values with which they are filled.

pub(crate) mod any_buffer;
pub(crate) mod arg_data;
pub mod buffer;
pub mod element;
pub mod fill;
pub mod inputs;
pub(crate) mod inputs_call;
mod random;
pub mod reference;
pub mod scalars;
pub mod unusual;
