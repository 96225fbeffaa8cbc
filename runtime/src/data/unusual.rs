//! Inputs that programs may have and that random numbers of one range never contain: zeros, equal numbers, sorted ones, the
//! ends of the range, numbers near a constant, large ones, a large one among small ones, and words of any bits. A config
//! that is right only for usual inputs is then wrong. Bits of a seed select them. The kernel need not support them, so a
//! case counts only if the baseline is right.

use kiln_spec::{ElemType, Fill, Problem, SliceArg};

use super::element::{Element, rounded};

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
/// The bit of a seed with which the last element of each row of an input is large, and the others are small.
pub const LAST: u64 = 1 << 58;
/// The bit of a seed with which integer inputs without `#[fill(..)]` have any bits.
pub const BITS: u64 = 1 << 57;
/// The bits with which inputs have unusual values.
pub const INPUTS: [u64; 6] = [CONSTANTS, FLOATS, INTEGERS, LARGE, LAST, BITS];
/// The bits with which a right config may lose accuracy.
pub const INACCURATE: u64 = FLOATS | LARGE | LAST;
/// All bits of this kind.
pub const ANY: u64 = SCALARS | CONSTANTS | FLOATS | INTEGERS | LARGE | LAST | BITS;

/// Whether a slice with elements of this type has unusual values with this seed.
pub fn varies(slice: &SliceArg, ty: ElemType, seed: u64) -> bool {
    let kind = match (&slice.fill, ty.is_float()) {
        (Fill::Constant(_), _) => CONSTANTS,
        (Fill::Iota, _) => 0,
        (Fill::ByType, true) => FLOATS | LARGE | LAST,
        (Fill::ByType, false) => INTEGERS | LAST | BITS,
        (Fill::Uniform { .. } | Fill::Below(_), true) => FLOATS | LAST,
        (Fill::Uniform { .. } | Fill::Below(_), false) => INTEGERS | LAST,
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
    /// The number of elements of a row.
    pub(super) row: usize,
    pub(super) random: f64,
}

/// The number of elements of a row of an input: the last size of the problem that divides its length, or its length.
pub(super) fn row_of(problem: &Problem, len: usize) -> usize {
    let sizes = problem.iter().filter_map(|(name, _)| problem.size(name));
    let sizes = sizes.filter_map(|size| usize::try_from(size).ok());
    let divides = |size: &usize| *size > 1 && *size < len && len.is_multiple_of(*size);
    sizes.filter(divides).last().unwrap_or(len)
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
    rounded(
        in_range(ends, range, place).clamp(low, ends[2]),
        [low, high],
    )
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
        6 => {
            // Whole numbers, halves, and so on up to multiples of 1/64.
            let parts = f64::from(1 << (place.index % 7));
            (parts * random).round() / parts
        }
        _ if place.random < 0.125 => low,
        _ if place.random < 0.25 => large,
        _ => random,
    }
}

/// An element of a real input in `[low, high)` of which the last element of each row is large.
pub(super) fn last_real<T: Element>(low: f64, high: f64, place: Place) -> T {
    let range = high - low;
    let most = high - range / 256.0;
    let number = last_in_range([low, most], range / 1024.0, place);
    rounded(number.clamp(low, most), [low, high])
}

/// An element of an input of integers from `first` to `end - 1` of which the last element of each row is large.
pub(super) fn last_whole<T: Element>(first: i128, end: i128, place: Place) -> T {
    let ends = [first as f64, (end - 1) as f64];
    let number = last_in_range(ends, (end - first) as f64 / 8.0, place).floor() as i128;
    T::from_whole(number.clamp(first, end - 1))
}

/// A number that is small, or large at the end of a row. A small one is at most `small` above zero; in the second half of an
/// input with rows, it is as far below the large one as possible. If the length is even, the last element of a single row
/// is the least one, because it may be a minimum.
fn last_in_range([low, most]: [f64; 2], small: f64, place: Place) -> f64 {
    let has_rows = place.row < place.len;
    let is_end = (place.index + 1).is_multiple_of(place.row);
    match is_end {
        true if !has_rows && place.len.is_multiple_of(2) => low,
        true => most,
        false if has_rows && 2 * place.index >= place.len => low,
        false => 0.0_f64.clamp(low, most) + small * place.random,
    }
}

/// An integer of any bits.
pub(super) fn bits<T: Element>(place: Place) -> T {
    let limits = T::TYPE.integer_range().unwrap_or((0, 1));
    // An odd factor spreads 32 random bits over 64.
    let random = (place.random * 4_294_967_296.0) as u64;
    let spread = random.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let span = limits.1 - limits.0 + 1;
    T::from_whole(limits.0 + i128::from(spread.rotate_left(32)).rem_euclid(span))
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
            row: 100,
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

    #[test]
    fn the_last_element_of_each_row_is_large_and_the_others_are_small() {
        let values: Vec<f64> = places()
            .map(|place| last_real::<f32>(-1.0, 1.0, place).to_f64())
            .collect();
        for (index, value) in values.iter().enumerate() {
            match ((index + 1) % 100, index) {
                (0, _) => assert!(*value > 0.99),
                (_, 4000..) => assert_eq!(*value, -1.0),
                _ => assert!((0.0..0.002).contains(value), "{value}"),
            }
        }
        let alone = |len: usize| {
            let place = |index| Place {
                index,
                len,
                row: len,
                random: 0.5,
            };
            let of = |index| last_whole::<i32>(-3, 5, place(index)).to_f64();
            (of(0), of(len - 1))
        };
        assert_eq!(alone(7), (0.0, 4.0));
        assert_eq!(alone(8), (0.0, -3.0));
    }

    #[test]
    fn rows_have_the_last_size_that_divides_the_length() {
        let sizes = [("m", 4), ("n", 6), ("one", 1)];
        let sizes = sizes.map(|(name, size)| (name.into(), kiln_spec::ProblemValue::Size(size)));
        let problem = Problem::new(sizes);
        assert_eq!(row_of(&problem, 24), 6);
        assert_eq!(row_of(&problem, 16), 4);
        assert_eq!(row_of(&problem, 6), 6);
        assert_eq!(row_of(&problem, 7), 7);
        assert_eq!(row_of(&problem, 0), 0);
    }

    #[test]
    fn any_bit_of_a_word_is_sometimes_set_and_sometimes_not() {
        fn check<T: Element>(width: usize) {
            let words: Vec<T> = (0..4000_u32)
                .map(|index| Place {
                    index: index as usize,
                    len: 4000,
                    row: 4000,
                    random: f64::from(index.wrapping_mul(2_654_435_761)) / 4_294_967_296.0,
                })
                .map(bits::<T>)
                .collect();
            for bit in 0..width {
                let is_set = |word: &&T| bytemuck::bytes_of(*word)[bit / 8] >> (bit % 8) & 1 == 1;
                let set = words.iter().filter(is_set).count();
                assert!((1000..3000).contains(&set), "bit {bit}: {set}");
            }
        }
        check::<u8>(8);
        check::<i16>(16);
        check::<u32>(32);
        check::<i64>(64);
    }
}
