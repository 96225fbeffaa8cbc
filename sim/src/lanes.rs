//! Arrays with one value per lane of a warp, and transpositions between lanes (several words of one lane) and rows (one
//! word of each lane).

use pulp::Simd;

/// Number of lanes of a warp.
pub(crate) const LANES: usize = 32;

/// A value that is aligned to a cache line, so no vector of the value crosses a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Aligned<T>(pub T);

/// An array of `f(lane)` for each lane. The compiler vectorises this loop. It does not vectorise `std::array::from_fn`
/// and `map` for arrays of this size, because it does not inline them.
#[inline(always)]
pub(crate) fn each<T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; LANES] {
    let mut out = [T::default(); LANES];
    for (lane, out) in out.iter_mut().enumerate() {
        *out = f(lane);
    }
    out
}

/// An array of `f(value)` for the value of each lane.
#[inline(always)]
pub(crate) fn over<A: Copy, T: Copy + Default>(
    values: &[A; LANES],
    f: impl Fn(A) -> T,
) -> [T; LANES] {
    each(|lane| f(values[lane]))
}

/// The number of lanes in a mask. The mask is usually full.
#[inline(always)]
pub(crate) fn count(mask: u32) -> u64 {
    match mask {
        u32::MAX => LANES as u64,
        _ => mask.count_ones().into(),
    }
}

/// The indices of the lanes in a mask, in ascending order.
#[inline(always)]
pub(crate) fn of_mask(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

/// Transposes the `N` words of each lane, which `of_lane` returns, into `N` rows with one word per lane. The words of a
/// lane are usually adjacent in memory.
#[inline(always)]
pub(crate) fn spread<S: Simd, const N: usize>(
    simd: S,
    rows: &mut [[u32; LANES]; N],
    of_lane: impl Fn(usize) -> [u32; N],
) {
    if let Some(four) = rows.as_mut_slice().first_chunk_mut::<4>()
        && N == 4
        && S::F32_LANES == EIGHT
    {
        let of_lane = |lane| {
            let words = of_lane(lane);
            [words[0], words[1 % N], words[2 % N], words[3 % N]]
        };
        return spread_four(simd, four, of_lane);
    }
    for lane in 0..LANES {
        for (row, word) in rows.iter_mut().zip(of_lane(lane)) {
            row[lane] = word;
        }
    }
}

/// Number of lanes whose words `spread_four` transposes at once: the number of words of a vector.
const EIGHT: usize = 8;

/// Transposes four words of each lane, on processors whose vectors have eight words.
#[inline(always)]
fn spread_four<S: Simd>(
    simd: S,
    rows: &mut [[u32; LANES]; 4],
    of_lane: impl Fn(usize) -> [u32; 4],
) {
    for eight in 0..LANES / EIGHT {
        let pair = |i: usize| -> S::f32s {
            let lane = EIGHT * eight + i;
            bytemuck::cast([of_lane(lane), of_lane(lane + EIGHT / 2)])
        };
        // The lanes are loaded in an order that the shuffle reverses, so its results are in ascending order.
        let turned = simd.deinterleave_shfl_f32s([pair(0), pair(1), pair(2), pair(3)]);
        for (row, turned) in rows.iter_mut().zip(turned) {
            row.as_chunks_mut::<EIGHT>().0[eight] = bytemuck::cast(turned);
        }
    }
}

/// Transposes four rows into eight groups of four lanes. Lane `i` of group `g` receives word `g` of row `i`.
#[inline(always)]
pub(crate) fn collect<S: Simd>(simd: S, rows: [[u32; EIGHT]; 4], lanes: &mut [u32; LANES]) {
    let groups = lanes.as_chunks_mut::<4>().0;
    if S::F32_LANES != EIGHT {
        for (i, group) in groups.iter_mut().enumerate() {
            *group = rows.map(|row| row[i]);
        }
        return;
    }
    let [a, b, c, d] = rows;
    let vector = |row: [u32; EIGHT]| -> S::f32s { bytemuck::cast(row) };
    let turned = simd.interleave_shfl_f32s([vector(a), vector(b), vector(c), vector(d)]);
    let (low, high) = groups.split_at_mut(EIGHT / 2);
    for ((low, high), turned) in low.iter_mut().zip(high).zip(turned) {
        [*low, *high] = bytemuck::cast(turned);
    }
}

/// Transposes eight groups of four lanes into four rows. Row `i` contains the word of lane `i` of each group, first for
/// the even groups, then for the odd groups.
#[inline(always)]
pub(crate) fn apart<S: Simd>(simd: S, lanes: &[u32; LANES]) -> [[u32; EIGHT]; 4] {
    if S::F32_LANES != EIGHT {
        let mut rows = [[0; EIGHT]; 4];
        for (i, row) in rows.iter_mut().enumerate() {
            for (group, word) in row.iter_mut().enumerate() {
                *word = lanes[(group % 4 * 2 + group / 4) * 4 + i];
            }
        }
        return rows;
    }
    let vectors = lanes.as_chunks::<EIGHT>().0;
    let vector = |i: usize| -> S::f32s { bytemuck::cast(vectors[i]) };
    let turned = simd.deinterleave_shfl_f32s([vector(0), vector(1), vector(2), vector(3)]);
    let row = |i: usize| -> [u32; EIGHT] { bytemuck::cast(turned[i]) };
    [row(0), row(1), row(2), row(3)]
}

#[cfg(test)]
mod tests {
    use pulp::WithSimd;

    use super::*;
    use crate::wide::wide;

    struct Both<'a>(&'a [[u32; 4]; LANES]);

    impl WithSimd for Both<'_> {
        type Output = ([[u32; LANES]; 4], [[u32; LANES]; 3]);

        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            let (mut four, mut three) = Default::default();
            spread(simd, &mut four, |lane| self.0[lane]);
            spread(simd, &mut three, |lane| {
                let [a, b, c, _] = self.0[lane];
                [a, b, c]
            });
            (four, three)
        }
    }

    struct Collect([[u32; 8]; 4]);

    impl WithSimd for Collect {
        type Output = [u32; LANES];

        fn with_simd<S: Simd>(self, simd: S) -> [u32; LANES] {
            let mut lanes = [0; LANES];
            collect(simd, self.0, &mut lanes);
            lanes
        }
    }

    struct Apart([u32; LANES]);

    impl WithSimd for Apart {
        type Output = [[u32; 8]; 4];

        fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
            apart(simd, &self.0)
        }
    }

    #[test]
    fn groups_of_lanes_come_apart() {
        let rows = wide(Apart(each(|lane| lane as u32)));
        for (i, row) in (0..).zip(rows) {
            let groups = [0, 2, 4, 6, 1, 3, 5, 7];
            assert_eq!(row, groups.map(|group| 4 * group + i));
        }
    }

    #[test]
    fn words_of_lanes_become_rows() {
        let words: [[u32; 4]; LANES] =
            std::array::from_fn(|lane| std::array::from_fn(|i| (100 * i + lane) as u32));
        let (four, three) = wide(Both(&words));
        for (i, row) in four.iter().chain(&three).enumerate() {
            let i = if i < 4 { i } else { i - 4 };
            assert_eq!(*row, each(|lane| (100 * i + lane) as u32));
        }
    }

    #[test]
    fn four_rows_become_words_of_lanes() {
        let rows = std::array::from_fn(|i| std::array::from_fn(|group| (100 * i + group) as u32));
        assert_eq!(
            wide(Collect(rows)),
            each(|lane| (lane % 4 * 100 + lane / 4) as u32)
        );
    }
}
