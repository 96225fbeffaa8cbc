//! Inputs that programs may have and that random numbers of one range never contain: zeros, equal numbers, sorted ones, the
//! ends of the range, numbers near a constant, and large ones. A config that is right only for usual inputs is then
//! wrong. Bits of a seed select them. The kernel need not support them, so a case counts only if the baseline is right.

use kiln_spec::{ElemType, Fill, SliceArg};

use super::element::Element;

/// The bit of a seed with which scalars that are 0 or 1 have other values.
pub const SCALARS: u64 = 1 << 63;
/// The bit of a seed with which inputs of one constant have other values near it.
pub const CONSTANTS: u64 = 1 << 62;
/// The bit of a seed with which floating-point inputs have unusual values of their range.
pub const FLOATS: u64 = 1 << 61;
/// The bit of a seed with which integer inputs have unusual values of their range. Without `#[fill(..)]`, they also have
/// values outside the default range.
pub const INTEGERS: u64 = 1 << 60;
/// The bit of a seed with which floating-point inputs without `#[fill(..)]` have large values.
pub const LARGE: u64 = 1 << 59;
/// The bits with which inputs have unusual values.
pub const INPUTS: [u64; 4] = [CONSTANTS, FLOATS, INTEGERS, LARGE];
/// All bits of this kind.
pub const ANY: u64 = SCALARS | CONSTANTS | FLOATS | INTEGERS | LARGE;

/// Whether a slice with elements of this type has unusual values with this seed.
pub fn varies(slice: &SliceArg, ty: ElemType, seed: u64) -> bool {
    let kind = match (&slice.fill, ty.is_float()) {
        (Fill::Constant(_), _) => CONSTANTS,
        (Fill::Iota, _) => 0,
        (Fill::ByType, true) => FLOATS | LARGE,
        (Fill::Uniform { .. } | Fill::Below(_), true) => FLOATS,
        (Fill::Uniform { .. } | Fill::Below(_) | Fill::ByType, false) => INTEGERS,
    };
    seed & kind != 0
}

/// Number of parts of an input. The elements of each part are of another kind.
const PARTS: usize = 8;

/// The magnitude of large integers of 64 bits, and of others.
const LARGE_64: f64 = (1_u64 << 40) as f64;
const LARGE_32: f64 = 1000.0;

/// The place of an element in its input, and a random number that is uniformly distributed over `[0, 1)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) index: usize,
    pub(super) len: usize,
    pub(super) random: f64,
}

impl Place {
    fn part(self) -> usize {
        self.index * PARTS / self.len.max(1)
    }

    /// The place in its part, in `[0, 1)`.
    fn in_part(self) -> f64 {
        let place = self.index as f64 * PARTS as f64 / self.len.max(1) as f64;
        place.fract()
    }
}

/// An element of an input of real numbers in `[low, high)`.
pub(super) fn real<T: Element>(low: f64, high: f64, place: Place) -> T {
    let range = high - low;
    let ends = [low, high - range / 64.0, high - range / 256.0];
    let number = T::from_f64(in_range(ends, range, place).clamp(low, ends[2]));
    // Rounding to a narrow type can give the upper bound, which is excluded.
    if number.to_f64() < high {
        number
    } else {
        T::from_f64(low)
    }
}

/// An element of an input of integers from `first` to `end - 1`.
pub(super) fn whole<T: Element>(first: i128, end: i128, place: Place) -> T {
    let last = end - 1;
    let ends = [first as f64, last as f64, last as f64];
    let number = in_range(ends, (end - first) as f64, place).floor() as i128;
    T::from_whole(number.clamp(first, last))
}

/// A number of a range of this size. `ends` are its smallest number, a large one, and its largest one, which the last
/// element has. The numbers of all parts have the same order of magnitude, because a tolerance is relative to the whole
/// output.
fn in_range([low, large, most]: [f64; 3], range: f64, place: Place) -> f64 {
    let random = low + range * place.random;
    match place.part() {
        _ if place.index + 1 == place.len => most,
        0 => 0.0_f64.clamp(low, most),
        1 => low,
        2 => large,
        3 => low + range / 4.0 * (4.0 * place.random).floor(),
        4 => low + range * (0.5 + (place.random - 0.5) / 1024.0),
        5 => low + range * place.in_part(),
        6 => (2.0 * random).round() / 2.0,
        _ if place.random < 0.125 => low,
        _ if place.random < 0.25 => most,
        _ => random,
    }
}

/// An element of an input of integers without `#[fill(..)]`.
pub(super) fn integer<T: Element>(place: Place) -> T {
    let limits = T::TYPE.integer_range().unwrap_or((-1, 1));
    let (least, most) = (limits.0 as f64, limits.1 as f64);
    let large = match T::TYPE {
        ElemType::I64 | ElemType::U64 => LARGE_64,
        _ => LARGE_32,
    };
    let around = 2.0 * place.random - 1.0;
    let number = match place.part() {
        0 => 0.0,
        1 => 1.0,
        2 => 5.0 * place.random - 2.0,
        3 => large * around,
        4 => large * place.random,
        5 => -16.0 * place.random,
        6 => large * place.in_part(),
        _ => 16.0 * place.random,
    };
    T::from_f64(number.floor().clamp(least, most))
}

/// An element of an input of floating-point numbers without `#[fill(..)]`. They are small enough for the fast exponential
/// functions of GPUs.
pub(super) fn large<T: Element>(place: Place) -> T {
    let large = match T::TYPE {
        ElemType::F16 | ElemType::Bf16 => 8.0,
        _ => 16.0,
    };
    T::from_f64(large * (2.0 * place.random - 1.0))
}

/// An element of an input whose `#[fill(..)]` is this constant.
pub(super) fn near<T: Element>(constant: f64, place: Place) -> T {
    let Some((least, most)) = T::TYPE.integer_range() else {
        return T::from_f64(match place.part() {
            0 | 3 => constant,
            1 => constant + 0.5,
            2 => constant - 0.5,
            _ => constant + 2.0 * place.random - 1.0,
        });
    };
    let number = constant + (3.0 * place.random).floor();
    T::from_f64(number.clamp(least as f64, most as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> impl Iterator<Item = Place> {
        (0..8000).map(|index| Place {
            index,
            len: 8000,
            random: (index * 7 % 1000) as f64 / 1000.0,
        })
    }

    #[test]
    fn every_integer_type_has_zeros_equal_large_and_if_possible_negative_numbers() {
        fn check<T: Element>(large: f64) {
            let values: Vec<f64> = places().map(|place| integer::<T>(place).to_f64()).collect();
            assert!(values[..1000].iter().all(|&value| value == 0.0));
            assert!(values[1000..2000].iter().all(|&value| value == 1.0));
            let most = values.iter().copied().fold(0.0, f64::max);
            assert!(most > 0.9 * large && most <= large, "{most}");
            let is_signed = T::TYPE.integer_range().is_none_or(|(least, _)| least < 0);
            assert_eq!(values.iter().any(|&value| value < -1.0), is_signed);
        }
        check::<i8>(127.0);
        check::<u8>(255.0);
        check::<i32>(1000.0);
        check::<u32>(1000.0);
        check::<i64>(LARGE_64);
        check::<u64>(LARGE_64);
    }

    /// Checks the parts of an input whose smallest and largest numbers are these.
    fn check_parts(values: &[f64], [low, most]: [f64; 2]) {
        assert!(values.iter().all(|value| (low..=most).contains(value)));
        assert!(values[..1000].iter().all(|&value| value == values[0]));
        assert!(values[1000..2000].iter().all(|&value| value == low));
        let mut large = values[2000..3000].iter();
        assert!(large.all(|&value| value == values[2000] && value > low));
        assert!(values[5000..6000].is_sorted());
        assert_eq!(values[7999], most);
    }

    #[test]
    fn unusual_real_numbers_are_ends_of_their_range_equal_and_sorted_ones_and_stay_in_it() {
        fn check<T: Element>(low: f64, high: f64) {
            let values = places().map(|place| real::<T>(low, high, place).to_f64());
            let most = high - (high - low) / 256.0;
            check_parts(&values.collect::<Vec<f64>>(), [low, most]);
        }
        check::<f32>(-1.0, 1.0);
        check::<half::f16>(0.5, 1.5);
        check::<f64>(-1e9, -1e8);
    }

    #[test]
    fn unusual_integers_are_ends_of_their_range_equal_and_sorted_ones_and_stay_in_it() {
        fn check<T: Element>(first: i128, end: i128) {
            let values = places().map(|place| whole::<T>(first, end, place).to_f64());
            check_parts(
                &values.collect::<Vec<f64>>(),
                [first as f64, (end - 1) as f64],
            );
        }
        check::<i32>(-5, 20);
        check::<u8>(0, 2);
        check::<u32>(0, 50_257);
        check::<f32>(0, 100);
        // A double cannot represent the largest number of this range.
        let last = whole::<u64>(0, 1 << 62, places().last().unwrap());
        assert_eq!(last, (1 << 62) - 1);
    }
}
