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
