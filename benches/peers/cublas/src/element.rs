//! The element types of the matrices.

use cudarc::driver::{DeviceRepr, ValidAsZeroBits};
use half::{bf16, f16};

/// An element type whose values are stored in files as they are in memory.
pub trait FileElement: DeviceRepr + ValidAsZeroBits + Copy + Send + 'static {
    /// The value with these bytes.
    fn of_bytes(bytes: &[u8]) -> Self;
    /// The bytes of the value.
    fn bytes(self) -> Vec<u8>;
    /// 1 for `true` and 0 for `false`.
    fn small(one: bool) -> Self;
}

macro_rules! element {
    ($($ty:ty)*) => {$(
        impl FileElement for $ty {
            fn of_bytes(bytes: &[u8]) -> Self {
                <$ty>::from_ne_bytes(bytes.try_into().expect("chunks are of its size"))
            }

            fn bytes(self) -> Vec<u8> {
                self.to_ne_bytes().to_vec()
            }

            fn small(one: bool) -> Self {
                <$ty>::from(u8::from(one))
            }
        }
    )*};
}

element! { f32 f16 bf16 }
