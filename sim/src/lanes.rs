//! The lanes of a warp.

/// Lanes of a warp.
pub(crate) const LANES: usize = 32;

/// What a function gives each lane. Unlike `std::array::from_fn` and `map`, which are calls for arrays of this size, it is a
/// loop that the compiler vectorises.
#[inline(always)]
pub(crate) fn each<T: Copy + Default>(f: impl Fn(usize) -> T) -> [T; LANES] {
    let mut out = [T::default(); LANES];
    for (lane, out) in out.iter_mut().enumerate() {
        *out = f(lane);
    }
    out
}

/// What a function gives the value of each lane.
#[inline(always)]
pub(crate) fn over<A: Copy, T: Copy + Default>(
    values: &[A; LANES],
    f: impl Fn(A) -> T,
) -> [T; LANES] {
    each(|lane| f(values[lane]))
}

/// The number of lanes in a mask, most often all.
#[inline(always)]
pub(crate) fn count(mask: u32) -> u64 {
    match mask {
        u32::MAX => LANES as u64,
        _ => mask.count_ones().into(),
    }
}

/// The lanes in a mask, in order.
#[inline(always)]
pub(crate) fn of_mask(mask: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| mask >> lane & 1 != 0)
}

/// Turns what each lane has, most often words that lie next to each other, into rows of all lanes; four lanes at once, so
/// that the compiler turns them in registers.
#[inline(always)]
pub(crate) fn spread<const N: usize>(
    rows: &mut [[u32; LANES]; N],
    of_lane: impl Fn(usize) -> Option<[u32; N]>,
) {
    for four in 0..LANES / 4 {
        let first = 4 * four;
        let (Some(a), Some(b), Some(c), Some(d)) = (
            of_lane(first),
            of_lane(first + 1),
            of_lane(first + 2),
            of_lane(first + 3),
        ) else {
            continue;
        };
        for (i, row) in rows.iter_mut().enumerate() {
            row.as_chunks_mut::<4>().0[four] = [a[i], b[i], c[i], d[i]];
        }
    }
}
