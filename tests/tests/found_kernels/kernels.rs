//! The kernels and their references.
#![allow(
    deprecated,
    clippy::too_many_arguments,
    reason = "none is baked; the arguments are those of the sources"
)]

use std::ops::Add;

use kiln::{Element, tuned_kernel};

/// All kernels of this file.
pub const ALL: &[&kiln::Kernel] = &[
    &widths::KERNEL,
    &doubled::KERNEL,
    &lanes::KERNEL,
    &renamed::KERNEL,
    &blended::KERNEL,
    &spmv::KERNEL,
    &filtered::KERNEL,
    &axpby::KERNEL,
    &shift_scale::KERNEL,
    &reversed::KERNEL,
    &limited::KERNEL,
];

fn widths_reference(
    n: u64,
    scale: f64,
    shift: i64,
    small: i16,
    large: u16,
    least: i8,
    most: u8,
    reals: &[f64],
    longs: &[i64],
    sizes: &[u64],
    shorts: &[i16],
    words: &[u16],
    bytes: &[i8],
    out_reals: &mut [f64],
    out_longs: &mut [i64],
    out_sizes: &mut [u64],
    out_shorts: &mut [i16],
    out_words: &mut [u16],
    out_bytes: &mut [i8],
) {
    let n = usize::try_from(n).unwrap();
    for i in 0..n {
        out_reals[i] = scale * reals[i] + 1.0;
        out_longs[i] = longs[n - 1 - i] ^ shift;
        out_sizes[i] = (!sizes[i]).wrapping_add(most.into());
        out_shorts[i] = shorts[i] / 2 + small;
        out_words[i] = words[i].wrapping_add(large);
        out_bytes[i] = bytes[i] / 2 + least;
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/widths.cu",
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
    reference = widths_reference,
)]
unsafe extern "C" {
    /// The scalar values and the filled data need all bits of their types.
    pub fn widths(
        n: u64,
        #[value(0.3333333333333333)] scale: f64,
        #[value(-81985529216486896)] shift: i64,
        #[value(-12345)] small: i16,
        #[value(54321)] large: u16,
        #[value(-60)] least: i8,
        #[value(201)] most: u8,
        #[len(n)] reals: &[f64],
        #[len(n)]
        #[fill(uniform(-9000000000000000000, 9000000000000000000))]
        longs: &[i64],
        #[len(n)]
        #[fill(uniform(0, 18000000000000000000))]
        sizes: &[u64],
        #[len(n)]
        #[fill(uniform(-32768, 32768))]
        shorts: &[i16],
        #[len(n)]
        #[fill(uniform(0, 65536))]
        words: &[u16],
        #[len(n)]
        #[fill(uniform(-128, 128))]
        bytes: &[i8],
        #[len(n)] out_reals: &mut [f64],
        #[len(n)] out_longs: &mut [i64],
        #[len(n)] out_sizes: &mut [u64],
        #[len(n)] out_shorts: &mut [i16],
        #[len(n)] out_words: &mut [u16],
        #[len(n)] out_bytes: &mut [i8],
    );
}

fn doubled_reference<E>(_: i32, x: &[E], y: &mut [E::Wide])
where
    E: Element,
    E::Wide: Add<Output = E::Wide>,
{
    for (y, x) in y.iter_mut().zip(x) {
        *y = x.widen() + x.widen();
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/doubled.cu",
    types(T in [f64, i64, u64, i16, u16, i8]),
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    grid(n.div_ceil(2 * THREADS)),
    block(THREADS),
    problems((n = 1000)),
    reference = doubled_reference,
)]
unsafe extern "C" {
    pub fn doubled(
        n: i32,
        #[len(n)]
        #[fill(uniform(0, 60))]
        x: &[T],
        #[len(n)] y: &mut [T],
    );
}

fn lanes_reference<E: Element>(
    _: u32,
    x: &[E],
    up: &mut [E::Wide],
    down: &mut [E::Wide],
    flipped: &mut [E::Wide],
    first: &mut [E::Wide],
    pairs: &mut [E::Wide],
    alike: &mut [u32],
) {
    let n = x.len();
    for i in 0..n {
        let lane = i % 32;
        let of = |other: usize| x[i - lane + other].widen();
        up[i] = of(if lane < 3 { lane } else { lane - 3 });
        down[i] = of(if lane + 5 < 32 { lane + 5 } else { lane });
        flipped[i] = of(lane ^ 17);
        first[i] = of(lane / 8 * 8 + 3);
        pairs[i] = of((lane + 1) % 32);
        // The mask of the lanes with the same key, which is the number in the higher bits of the lane.
        alike[i] = (0..32)
            .filter(|other| other / 2 % 4 == lane / 2 % 4)
            .fold(0, |mask, other| mask | 1 << other);
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/lanes.cu",
    types(T in [f64, i64, u64]),
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    where(n % THREADS == 0),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1024)),
    verify((n = 128)),
    tolerance(relative = 0),
    reference = lanes_reference,
)]
unsafe extern "C" {
    /// Exchanges 64-bit values between lanes with every kind of shuffle. The high words are significant.
    pub fn lanes(
        n: u32,
        #[len(n)]
        #[fill(uniform(0, 9000000000000000000))]
        x: &[T],
        #[len(n)] up: &mut [T],
        #[len(n)] down: &mut [T],
        #[len(n)] flipped: &mut [T],
        #[len(n)] first: &mut [T],
        #[len(n)] pairs: &mut [T],
        #[len(n)] alike: &mut [u32],
    );
}

fn renamed_reference<E: Element<Wide = f64>>(
    n: u32,
    factor: f64,
    shift: f32,
    x: &[E],
    weights: &[f32],
    y: &mut [f64],
) {
    for i in 0..n as usize {
        y[i] = factor * x[i].to_f64() * f64::from(weights[i]) + f64::from(shift);
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/renamed.cu",
    types(T in [f32]),
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
    reference = renamed_reference,
)]
unsafe extern "C" {
    /// Uses types under names that the author defined.
    pub fn renamed(
        n: u32,
        #[value(0.75)] factor: f64,
        #[value(-1)] shift: f32,
        #[len(n)] x: &[T],
        #[len(n)] weights: &[f32],
        #[len(n)] y: &mut [T],
    );
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Window {
    pub first: i32,
    pub count: i32,
}

#[derive(Clone, Copy)]
#[repr(C)]
pub struct Blend {
    pub mode: u8,
    pub taps: [f32; 3],
    pub bias: f64,
    pub window: Window,
}

pub fn blended_reference(n: u32, blend: Blend, colour: [f32; 4], x: &[f32], y: &mut [f64]) {
    let window = blend.window.first..blend.window.first + blend.window.count;
    for (i, y) in (0..n as i32).zip(y) {
        let sum: f64 = (0..3)
            .map(|tap| (i + tap - 1, f64::from(blend.taps[tap as usize])))
            .filter(|(at, _)| window.contains(at))
            .map(|(at, weight)| weight * f64::from(x[at as usize]))
            .sum();
        let tint = f64::from(colour[i as usize % 4]);
        *y = if blend.mode == 7 {
            sum * tint + blend.bias
        } else {
            0.0
        };
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/blended.cu",
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
    reference = blended_reference,
)]
unsafe extern "C" {
    /// A by-value struct that contains an array, a struct and a vector.
    pub fn blended(
        n: u32,
        #[value(Blend {
            mode: 7u8,
            taps: [0.25f32, -0.5f32, 0.25f32],
            bias: 0.125f64,
            window: Window { first: 2i32, count: (n - 5) as i32 },
        })]
        blend: Blend,
        #[value([1.0f32, 0.5f32, 0.25f32, 2.0f32])] colour: [f32; 4],
        #[len(n)] x: &[f32],
        #[len(n)] y: &mut [f32],
    );
}

/// The rows of a sparse matrix: the start of each row, and valid column indices, sorted within each row.
pub fn sparse_rows(
    seed: u64,
    rows: i32,
    columns: i32,
    starts: &mut [i32],
    column: &mut [i32],
    value: &mut [f32],
    _x: &mut [f32],
) {
    let elements = column.len();
    starts[0] = 0;
    for row in 1..=rows as usize {
        // Some rows are empty, and some are long.
        let share = (seed as usize + row * row) % 7;
        let start = starts[row - 1] as usize + share;
        starts[row] = start.min(elements) as i32;
    }
    for row in starts.windows(2) {
        let row = row[0] as usize..row[1] as usize;
        let stride = (columns as usize / row.len().max(1)).max(1);
        for (place, column) in column[row].iter_mut().enumerate() {
            *column = (place * stride % columns as usize) as i32;
        }
    }
    // A kernel must not read elements that belong to no row.
    for place in starts[rows as usize] as usize..elements {
        column[place] = i32::MAX;
        value[place] = f32::NAN;
    }
}

pub fn spmv_reference(
    _: i32,
    _: i32,
    starts: &[i32],
    column: &[i32],
    value: &[f32],
    x: &[f32],
    y: &mut [f64],
) {
    for (row, y) in starts.windows(2).zip(y) {
        let row = row[0] as usize..row[1] as usize;
        *y = row
            .map(|i| f64::from(value[i]) * f64::from(x[column[i] as usize]))
            .sum();
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/spmv.cu",
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    grid(rows.div_ceil(THREADS)),
    block(THREADS),
    problems((rows = 700, columns = 300)),
    inputs = sparse_rows,
    reference = spmv_reference,
)]
unsafe extern "C" {
    /// A sparse matrix times a vector. A function generates the matrix.
    pub fn spmv(
        rows: i32,
        columns: i32,
        #[len(rows + 1)] starts: &[i32],
        #[len(4 * rows)] column: &[i32],
        #[len(4 * rows)] value: &[f32],
        #[len(columns)] x: &[f32],
        #[len(rows)] y: &mut [f32],
    );
}

fn filtered_reference(
    x: &[f32],
    y: &mut [f64],
    n: i32,
    taps: &[f32],
    window: &[f32],
    edges: &[i32],
) {
    for i in 0..n {
        let at = |from: i32| match from {
            from if from < 0 => edges[0],
            from if from >= n => edges[1],
            from => from,
        };
        let products = (-4..=4).map(|k: i32| {
            let (place, from) = ((k + 4) as usize, at(i + k) as usize);
            f64::from(taps[place]) * f64::from(x[from])
        });
        let window: f64 = window.iter().map(|&w| f64::from(w)).sum();
        y[i as usize] = products.sum::<f64>() + window;
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/filtered.cu",
    params(THREADS in [64, 128], ROUNDS in [3]),
    baseline(THREADS = 64, ROUNDS = 3),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
    reference = filtered_reference,
)]
unsafe extern "C" {
    pub fn filtered(
        #[len(n)] x: &[f32],
        #[len(n)] y: &mut [f32],
        n: i32,
        #[constant(tables::taps)]
        #[len(9)]
        taps: &[f32],
        #[constant(tables::window)]
        #[len(3)]
        window: &[f32],
        #[constant]
        #[len(2)]
        edges: &[i32],
    );
}

fn axpby_reference<E: Element<Wide = f64>>(_: i32, alpha: E, x: &[E], beta: E, y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = alpha.to_f64() * x.to_f64() + beta.to_f64() * *y;
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/axpby.cu",
    entry = "blas::axpby_kernel<T>",
    types(T in [f32, f64, f16, bf16]),
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    grid(n.div_ceil(2 * THREADS)),
    block(THREADS),
    problems((n = 1000)),
    tolerance(relative = 1e-2),
    reference = axpby_reference,
)]
unsafe extern "C" {
    /// Scalars whose type is a type parameter, passed by value to a template.
    pub fn axpby(
        n: i32,
        #[value(0.7)] alpha: T,
        #[len(n)] x: &[T],
        #[value(-2)] beta: T,
        #[len(n)]
        #[inout]
        #[fill(uniform(-1, 1))]
        y: &mut [T],
    );
}

fn shift_scale_reference<E: Element>(_: i32, shift: E, scale: kiln::f16, x: &[E], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = (x.to_f64() + shift.to_f64()) * scale.to_f64();
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/axpby.cu",
    types(T in [f32, bf16, i32, u8]),
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
    tolerance(relative = 1e-3),
    reference = shift_scale_reference,
)]
unsafe extern "C" {
    /// A scalar whose type is a type parameter that is a macro, and a scalar of type `f16`.
    pub fn shift_scale(
        n: i32,
        #[value(3)] shift: T,
        #[value(0.1)] scale: f16,
        #[len(n)]
        #[fill(uniform(0, 60))]
        x: &[T],
        #[len(n)] y: &mut [f16],
    );
}

fn reversed_reference(x: &[f32], y: &mut [f64], _: i32) {
    // Each block reverses its elements, and the last block has fewer.
    for (y, x) in y.chunks_mut(64).zip(x.chunks(64)) {
        for (y, x) in y.iter_mut().zip(x.iter().rev()) {
            *y = (*x).into();
        }
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/hidden.cu",
    params(THREADS in [64], SCALE in [1, 2]),
    baseline(THREADS = 64, SCALE = 1),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    shared(4 * THREADS),
    problems((n = 1000)),
    reference = reversed_reference,
)]
unsafe extern "C" {
    /// A kernel behind a macro, next to copies that are never compiled.
    pub fn reversed(#[len(n)] x: &[f32], #[len(n)] y: &mut [f32], n: i32);
}

fn limited_reference(x: &[f32], y: &mut [f64], _: i32) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = 2.0 * f64::from(x.min(0.5));
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/program.cu",
    params(THREADS in [64, 256]),
    baseline(THREADS = 256),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
    reference = limited_reference,
)]
unsafe extern "C" {
    /// A kernel in a program with a `main` function and headers for host code.
    pub fn limited(#[len(n)] x: &[f32], #[len(n)] y: &mut [f32], n: i32);
}
