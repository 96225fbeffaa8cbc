//! Inputs that programs may have and that random numbers of one range never contain: zeros, equal numbers, larger, smaller
//! and negative ones. A config that is right only for usual inputs is then wrong.

use kiln_spec::ElemType;

use super::element::Element;

/// Number of parts of an input. The elements of each part are of another kind.
const PARTS: usize = 8;

/// The magnitude of large integers of 64 bits, and of others.
const LARGE_64: f64 = (1_u64 << 40) as f64;
const LARGE: f64 = 1000.0;

/// An element of an input without a `#[fill(..)]`. `random` is uniformly distributed over `[0, 1)`.
///
/// Sums of the equal numbers and of the small integers are exact, so a kernel may subtract a mean from them. Large
/// floating-point numbers are small enough for the fast exponential functions of GPUs.
pub(super) fn element<T: Element>(index: usize, len: usize, random: f64) -> T {
    let (least, most) = T::TYPE
        .integer_range()
        .map_or((f64::MIN, f64::MAX), |(least, most)| {
            (least as f64, most as f64)
        });
    let large = match T::TYPE {
        ElemType::F32 | ElemType::F64 => 16.0,
        ElemType::F16 | ElemType::Bf16 => 8.0,
        ElemType::I64 | ElemType::U64 => LARGE_64,
        _ => LARGE,
    };
    let around = 2.0 * random - 1.0;
    let number = match part(index, len) {
        0 => 0.0,
        1 => 1.0,
        2 => (5.0 * random).floor() - 2.0,
        3 => large * around,
        4 => around / 1024.0,
        5 => -random,
        6 => large * random,
        _ => around,
    };
    let number = if T::TYPE.integer_range().is_some() {
        let whole = if number.abs() < 1.0 {
            16.0 * number
        } else {
            number
        };
        whole.floor().clamp(least, most)
    } else {
        number
    };
    T::from_f64(number)
}

/// An element of an input of floating-point numbers whose `#[fill(..)]` is this constant.
pub(super) fn near<T: Element>(constant: f64, index: usize, len: usize, random: f64) -> T {
    T::from_f64(match part(index, len) {
        0 | 3 => constant,
        1 => constant + 0.5,
        2 => constant - 0.5,
        _ => constant + 2.0 * random - 1.0,
    })
}

fn part(index: usize, len: usize) -> usize {
    index * PARTS / len.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_zeros_equal_large_and_if_possible_negative_numbers() {
        fn check<T: Element>(large: f64) {
            let values: Vec<f64> = (0..8000)
                .map(|i| element::<T>(i, 8000, (i * 7 % 1000) as f64 / 1000.0).to_f64())
                .collect();
            assert!(values[..1000].iter().all(|&value| value == 0.0));
            assert!(values[1000..2000].iter().all(|&value| value == 1.0));
            let most = values.iter().copied().fold(0.0, f64::max);
            assert!(most > 0.9 * large && most <= large, "{most}");
            let is_signed = T::TYPE.integer_range().is_none_or(|(least, _)| least < 0);
            assert_eq!(values.iter().any(|&value| value < -1.0), is_signed);
        }
        check::<f32>(16.0);
        check::<f64>(16.0);
        check::<half::f16>(8.0);
        check::<half::bf16>(8.0);
        check::<i8>(127.0);
        check::<u8>(255.0);
        check::<i32>(1000.0);
        check::<u32>(1000.0);
        check::<i64>(LARGE_64);
        check::<u64>(LARGE_64);
    }
}
