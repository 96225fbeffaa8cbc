//! Kernels for the tests of this crate.
#![allow(
    dead_code,
    deprecated,
    reason = "each test uses some of them; none of them is baked"
)]

use kiln::{Element, tuned_kernel};

/// The reference of [`vector_add`].
pub fn sum(n: u32, a: &[f32], b: &[f32], c: &mut [f64]) {
    for i in 0..n as usize {
        c[i] = f64::from(a[i]) + f64::from(b[i]);
    }
}

#[tuned_kernel(
    source = "vector_add.cu",
    params(THREADS in [64, 128, 256], ITEMS in [1, 2, 4]),
    where(THREADS <= device.max_threads_per_block),
    baseline(THREADS = 128, ITEMS = 1),
    grid(n.div_ceil(THREADS * ITEMS)),
    block(THREADS),
    problems((n = 1000), (n = 4096)),
    work(flops = n, bytes = 12 * n),
    tolerance(relative = 1e-6),
    reference = sum,
)]
unsafe extern "C" {
    /// Computes `c = a + b`.
    pub fn vector_add(n: u32, #[len(n)] a: &[f32], #[len(n)] b: &[f32], #[len(n)] c: &mut [f32]);
}

/// The reference of [`scale`].
pub fn scaled<E: Element<Wide = f64>>(n: u32, factor: f32, x: &[E], y: &mut [f64]) {
    for i in 0..n as usize {
        y[i] = f64::from(factor) * x[i].to_f64();
    }
}

#[tuned_kernel(
    source = "scale.cu",
    types(T in [f32, f16]),
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
    tolerance(relative = 1e-3),
    reference = scaled,
)]
unsafe extern "C" {
    pub fn scale(n: u32, #[value(2.0)] factor: f32, #[len(n)] x: &[T], #[len(n)] y: &mut [T]);
}

/// The reference of [`number`].
pub fn numbered(_rows: u32, columns: u32, y: &mut [f64]) {
    for (i, y) in y.iter_mut().enumerate() {
        *y = (i / columns as usize) as f64 + 1.0;
    }
}

#[tuned_kernel(
    source = "number.cu",
    params(THREADS in [32, 64]),
    baseline(THREADS = 32),
    grid(rows),
    block(THREADS),
    problems((rows = 8, columns = 8)),
    tolerance(relative = 0),
    reference = numbered,
)]
unsafe extern "C" {
    /// Writes the number of each element's row, counted from 1.
    pub fn number(rows: u32, columns: u32, #[len(rows * columns)] y: &mut [f32]);
}

#[tuned_kernel(
    source = "whole.cu",
    params(THREADS in [32, 64]),
    where(n % THREADS == 0),
    baseline(THREADS = 32),
    grid(n / THREADS),
    block(THREADS),
    problems((n = 1024)),
)]
unsafe extern "C" {
    /// Writes one, only for multiples of the block size.
    pub fn whole(n: u32, #[len(n)] y: &mut [f32]);
}

#[tuned_kernel(
    source = "aligned.cu",
    params(VECTOR_WIDTH in [1, 4]),
    baseline(VECTOR_WIDTH = 4),
    grid(n.div_ceil(64 * VECTOR_WIDTH)),
    block(64),
    problems((n = 1024)),
)]
unsafe extern "C" {
    pub fn aligned(
        n: u32,
        #[len(n)]
        #[align(VECTOR_WIDTH)]
        x: &[f32],
        #[len(n)]
        #[align(VECTOR_WIDTH)]
        y: &mut [f32],
    );
}

/// The reference of [`blend`].
pub fn blended(rows: u32, columns: u32, input: &[f32], weight: &[f32], out: &mut [f64]) {
    for r in 0..rows as usize {
        for (c, weight) in weight.iter().enumerate() {
            let i = r * columns as usize + c;
            out[i] = f64::from(input[i]) * f64::from(*weight) + r as f64;
        }
    }
}

#[tuned_kernel(
    source = "blend.cu",
    params(
        THREADS in [64, 128, 384],
        TILE_R in [4, 8, 16],
        TILE_C in [16, 32, 64],
        STAGED in [false, true],
    ),
    where(THREADS <= device.max_threads_per_block),
    baseline(THREADS = 128, TILE_R = 4, TILE_C = 16, STAGED = false),
    grid(columns.div_ceil(TILE_C), rows.div_ceil(TILE_R)),
    block(THREADS),
    shared(4 * TILE_C),
    problems((rows = 100, columns = 70), (rows = 64, columns = 256)),
    work(flops = 2 * rows * columns, bytes = 8 * rows * columns),
    tolerance(relative = 1e-6),
    reference = blended,
)]
unsafe extern "C" {
    pub fn blend(
        rows: u32,
        columns: u32,
        #[len(rows * columns)]
        #[fill(uniform(1, 2))]
        input: &[f32],
        #[len(columns)]
        #[fill(uniform(1, 2))]
        weight: &[f32],
        #[len(rows * columns)] out: &mut [f32],
    );
}

#[tuned_kernel(
    source = "accumulate.cu",
    params(ITEMS in [1, 2, 8]),
    baseline(entry = "accumulate_simply", grid(n.div_ceil(32)), block(32)),
    grid(n.div_ceil(64 * ITEMS)),
    block(64),
    problems((n = 1000)),
    reference(entry = "accumulate_simply"),
)]
unsafe extern "C" {
    /// A kernel whose argument types and accesses differ from those of the other kernels.
    pub fn accumulate(
        n: u32,
        #[len(n)]
        #[fill(below(n))]
        x: &[i32],
        #[len(n)]
        #[inout]
        #[fill(iota)]
        total: &mut [i32],
    );
}
