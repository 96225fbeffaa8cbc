//! What a launch works on: buffers and slices, the types of their elements, and the data that they are filled with.

pub(crate) mod any_buffer;
pub(crate) mod arg_data;
pub mod buffer;
pub mod element;
pub mod fill;
pub mod inputs;
pub(crate) mod inputs_call;
pub mod reference;
