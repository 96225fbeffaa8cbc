//! Rust types of kernel arguments: the elements of slices, and scalars.

use bytemuck::Pod;
use half::{bf16, f16};
use kiln_spec::{ElemType, ScalarType};

mod sealed {
    pub trait SealedElement {}
    pub trait SealedScalar {}
}

/// The element type of a device slice. The trait is sealed: exactly one Rust type implements it for each
/// [`ElemType`].
pub trait Element: Pod + PartialEq + std::fmt::Debug + Send + Sync + sealed::SealedElement {
    /// The corresponding type in specs, tables and sources.
    const TYPE: ElemType;

    /// The type in which a reference computes outputs of this type. It is `f64` for real types and the type itself
    /// for integers.
    type Wide: Pod + PartialEq + std::fmt::Debug + Send + Sync;

    /// Converts the value to `f64`.
    fn to_f64(self) -> f64;

    /// The value of this type that is nearest to `value`. For integer types, truncates towards zero and saturates.
    fn from_f64(value: f64) -> Self;

    /// Converts an integer to this type. Integer types saturate.
    fn from_whole(value: i128) -> Self;

    /// Converts the value to the type in which a reference computes.
    fn widen(self) -> Self::Wide;

    /// The value of this type that is nearest to a reference's value.
    fn narrow(wide: Self::Wide) -> Self;

    /// Converts a reference's value to `f64`. 64-bit integers beyond 2^53 are rounded.
    fn wide_to_f64(wide: Self::Wide) -> f64;

    /// The distance between this value and a reference's value. It is exact for integers of any width. For floats, it
    /// is infinite if one value is not finite and the other value is not the same.
    fn distance(self, wide: Self::Wide) -> f64;
}

/// The value nearest to a number of `[low, high)`, or `low` if rounding to a narrow type gives `high`, which is excluded.
pub(super) fn rounded<T: Element>(number: f64, [low, high]: [f64; 2]) -> T {
    let value = T::from_f64(number);
    if value.to_f64() < high {
        value
    } else {
        T::from_f64(low)
    }
}

macro_rules! floats {
    ($($rust:ty = $ty:ident, $to:expr, $from:expr;)*) => {$(
        impl sealed::SealedElement for $rust {}
        impl Element for $rust {
            const TYPE: ElemType = ElemType::$ty;
            type Wide = f64;
            fn to_f64(self) -> f64 { $to(self) }
            fn from_f64(value: f64) -> Self { $from(value) }
            fn from_whole(value: i128) -> Self { $from(value as f64) }
            fn widen(self) -> f64 { self.to_f64() }
            fn narrow(wide: f64) -> Self { Self::from_f64(wide) }
            fn wide_to_f64(wide: f64) -> f64 { wide }
            fn distance(self, wide: f64) -> f64 { distance(self.to_f64(), wide) }
        }
    )*};
}

floats! {
    f64 = F64, std::convert::identity, std::convert::identity;
    f32 = F32, f64::from, |value| value as f32;
    f16 = F16, f16::to_f64, f16::from_f64;
    bf16 = Bf16, bf16::to_f64, bf16::from_f64;
}

macro_rules! integers {
    ($($rust:ty = $ty:ident;)*) => {$(
        impl sealed::SealedElement for $rust {}
        impl Element for $rust {
            const TYPE: ElemType = ElemType::$ty;
            type Wide = $rust;
            fn to_f64(self) -> f64 { self as f64 }
            fn from_f64(value: f64) -> Self { value as $rust }
            fn from_whole(value: i128) -> Self {
                value.clamp(<$rust>::MIN.into(), <$rust>::MAX.into()) as $rust
            }
            fn widen(self) -> $rust { self }
            fn narrow(wide: $rust) -> Self { wide }
            fn wide_to_f64(wide: $rust) -> f64 { wide as f64 }
            fn distance(self, wide: $rust) -> f64 {
                i128::from(self).abs_diff(wide.into()) as f64
            }
        }
    )*};
}

integers! {
    i64 = I64;
    u64 = U64;
    i32 = I32;
    u32 = U32;
    i16 = I16;
    u16 = U16;
    i8 = I8;
    u8 = U8;
}

/// `|got - want|`. The result is 0 if both are NaN or the same infinity. Otherwise it is infinite if one of them is
/// not finite.
pub(crate) fn distance(got: f64, want: f64) -> f64 {
    if got == want || (got.is_nan() && want.is_nan()) {
        0.0
    } else if got.is_finite() && want.is_finite() {
        (got - want).abs()
    } else {
        f64::INFINITY
    }
}

/// The type of a scalar argument, which is passed by value. The trait is sealed: exactly one Rust type implements it
/// for each [`ScalarType`].
pub trait Scalar: Pod + Send + Sync + sealed::SealedScalar {
    /// The corresponding type in specs and sources.
    const TYPE: ScalarType;

    /// The value as a problem size; `None` if it is not an integer or exceeds 63 bits.
    fn to_size(self) -> Option<i64>;
}

macro_rules! scalars {
    ($($rust:ty = $ty:ident, $size:expr;)*) => {$(
        impl sealed::SealedScalar for $rust {}
        impl Scalar for $rust {
            const TYPE: ScalarType = ScalarType::$ty;
            #[inline]
            fn to_size(self) -> Option<i64> { $size(self) }
        }
    )*};
}

scalars! {
    u32 = U32, |x| Some(i64::from(x));
    i32 = I32, |x| Some(i64::from(x));
    u64 = U64, |x| i64::try_from(x).ok();
    i64 = I64, Some;
    i16 = I16, |x| Some(i64::from(x));
    u16 = U16, |x| Some(i64::from(x));
    i8 = I8, |x| Some(i64::from(x));
    u8 = U8, |x| Some(i64::from(x));
    f32 = F32, |_| None;
    f64 = F64, |_| None;
}

/// Evaluates an expression in which a type name stands for the Rust type of an [`ElemType`].
macro_rules! for_elem_type {
    ($ty:expr, $T:ident => $body:expr) => {
        match $ty {
            ::kiln_spec::ElemType::F64 => {
                type $T = f64;
                $body
            }
            ::kiln_spec::ElemType::I64 => {
                type $T = i64;
                $body
            }
            ::kiln_spec::ElemType::U64 => {
                type $T = u64;
                $body
            }
            ::kiln_spec::ElemType::I16 => {
                type $T = i16;
                $body
            }
            ::kiln_spec::ElemType::U16 => {
                type $T = u16;
                $body
            }
            ::kiln_spec::ElemType::I8 => {
                type $T = i8;
                $body
            }
            ::kiln_spec::ElemType::F32 => {
                type $T = f32;
                $body
            }
            ::kiln_spec::ElemType::F16 => {
                type $T = ::half::f16;
                $body
            }
            ::kiln_spec::ElemType::Bf16 => {
                type $T = ::half::bf16;
                $body
            }
            ::kiln_spec::ElemType::I32 => {
                type $T = i32;
                $body
            }
            ::kiln_spec::ElemType::U32 => {
                type $T = u32;
                $body
            }
            ::kiln_spec::ElemType::U8 => {
                type $T = u8;
                $body
            }
        }
    };
}
pub(crate) use for_elem_type;
