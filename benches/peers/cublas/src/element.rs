//! Element types of matrices.

use cudarc::driver::{DeviceRepr, ValidAsZeroBits};
use half::{bf16, f16};

/// An element type, read and written in its memory representation.
pub trait FileElement: DeviceRepr + ValidAsZeroBits + Copy + Send + 'static {
    /// From its bytes.
    fn of_bytes(bytes: &[u8]) -> Self;
    /// Its bytes.
    fn bytes(self) -> Vec<u8>;
    /// Converts a boolean to 0 or 1.
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
