//! Kernels that use each part of the portable device API, and their references.
#![allow(deprecated, reason = "none of them is baked: that is the warning")]

use kiln::tuned_kernel;

use crate::expected;

/// All kernels of this file.
pub const ALL: &[&kiln::Kernel] = &[
    &vectors::KERNEL,
    &products::KERNEL,
    &convert::KERNEL,
    &convert_unsigned::KERNEL,
    &warps::KERNEL,
    &ordered::KERNEL,
    &blocks::KERNEL,
    &atomics::KERNEL,
    &atomics_unsigned::KERNEL,
    &copies::KERNEL,
    &reversed::KERNEL,
    &exp2::KERNEL,
    &tiles::KERNEL,
    &tile_maps::KERNEL,
    &tile_chain::KERNEL,
    &rms_norm::KERNEL,
    &matmul::KERNEL,
];

#[tuned_kernel(
    source = "../../fixtures/prelude/vectors.cu",
    types(T in [f32, f16, bf16, i32, u32, u8]),
    params(WIDTH in [1, 2, 3, 4, 8], HINT in [plain, read_only, streaming]),
    baseline(WIDTH = 1, HINT = plain),
    grid(n.div_ceil(64 * WIDTH)),
    block(64),
    problems((n = 1000, from = 3, to = 5)),
    verify(
        (n = 1, from = 0, to = 0), (n = 515, from = 0, to = 8), (n = 512, from = 8, to = 0),
        (n = 129, from = 4, to = 2), (n = 700, from = 1, to = 3),
    ),
    tolerance(relative = 0),
    reference = expected::vectors,
)]
unsafe extern "C" {
    pub fn vectors(
        n: u32,
        from: u32,
        to: u32,
        #[len(n + from)]
        #[fill(below(100))]
        x: &[T],
        #[len(n + to + 9)]
        #[fill(constant(77))]
        #[inout]
        y: &mut [T],
    );
}

#[tuned_kernel(
    source = "../../fixtures/prelude/products.cu",
    params(WIDTH in [1, 3, 4, 8, 16, 24, 48]),
    baseline(WIDTH = 1),
    grid(n.div_ceil(32 * WIDTH)),
    block(32),
    problems((n = 1920)),
    verify((n = 48), (n = 1968)),
    tolerance(relative = 1e-6),
    reference = expected::products,
)]
unsafe extern "C" {
    pub fn products(n: u32, #[len(n + 8)] x: &[f32], #[len(n)] y: &mut [f32]);
}

#[tuned_kernel(
    source = "../../fixtures/prelude/convert.cu",
    types(T in [f32, f16, bf16, i32]),
    params(THREADS in [32, 128], WIDTH in [4, 8, 16]),
    baseline(THREADS = 32, WIDTH = 4),
    grid(n.div_ceil(WIDTH * THREADS)),
    block(THREADS),
    problems((n = 4099)),
    verify((n = 3), (n = 4096), (n = 1021)),
    tolerance(relative = 0),
    reference = expected::convert,
)]
unsafe extern "C" {
    pub fn convert(
        n: u32,
        #[len(n)]
        #[fill(uniform(-300, 300))]
        x: &[T],
        #[len(n)] f32s: &mut [f32],
        #[len(n)] f16s: &mut [f16],
        #[len(n)] bf16s: &mut [bf16],
        #[len(n)] i32s: &mut [i32],
        #[len(n)] u32s: &mut [u32],
        #[len(n)] u8s: &mut [u8],
    );
}

#[tuned_kernel(
    source = "../../fixtures/prelude/convert.cu",
    entry = "convert",
    types(T in [u32, u8]),
    params(THREADS in [32, 128], WIDTH in [4, 8, 16]),
    baseline(THREADS = 32, WIDTH = 4),
    grid(n.div_ceil(WIDTH * THREADS)),
    block(THREADS),
    problems((n = 4099)),
    verify((n = 3), (n = 4096), (n = 1021)),
    tolerance(relative = 0),
    reference = expected::convert,
)]
unsafe extern "C" {
    pub fn convert_unsigned(
        n: u32,
        #[len(n)]
        #[fill(below(256))]
        x: &[T],
        #[len(n)] f32s: &mut [f32],
        #[len(n)] f16s: &mut [f16],
        #[len(n)] bf16s: &mut [bf16],
        #[len(n)] i32s: &mut [i32],
        #[len(n)] u32s: &mut [u32],
        #[len(n)] u8s: &mut [u8],
    );
}

#[tuned_kernel(
    source = "../../fixtures/prelude/warps.cu",
    types(T in [f32, f16, bf16, i32, u32]),
    params(WARPS in [1, 3, 8]),
    baseline(WARPS = 1),
    grid(n.div_ceil(32 * WARPS)),
    block(32 * WARPS),
    problems((n = 300)),
    verify((n = 96), (n = 101), (n = 31)),
    tolerance(relative = 0),
    reference = expected::warps,
)]
unsafe extern "C" {
    pub fn warps(
        n: u32,
        #[len(n)]
        #[fill(below(8))]
        x: &[T],
        #[len(6 * n)] sums: &mut [T],
        #[len(6 * n)] maxima: &mut [T],
        #[len(6 * n)] minima: &mut [T],
        #[len(6 * n)] exchanged: &mut [T],
        #[len(6 * n)] above: &mut [T],
        #[len(6 * n)] below: &mut [T],
        #[len(6 * n)] sent: &mut [T],
        #[len(2 * n)] pairs: &mut [T],
        #[len(n)] votes: &mut [u32],
    );
}

#[tuned_kernel(
    source = "../../fixtures/prelude/ordered.cu",
    types(T in [f32, f16, bf16]),
    params(WARPS in [1, 4]),
    baseline(WARPS = 1),
    grid(n.div_ceil(32 * WARPS)),
    block(32 * WARPS),
    problems((n = 300)),
    verify((n = 96), (n = 31)),
    tolerance(relative = 0),
    reference = expected::ordered,
)]
unsafe extern "C" {
    pub fn ordered(
        n: u32,
        #[len(n)]
        #[fill(below(8))]
        x: &[T],
        #[len(n)] firsts: &mut [T],
        #[len(n)] agree: &mut [u32],
    );
}

#[tuned_kernel(
    source = "../../fixtures/prelude/blocks.cu",
    types(T in [f32, f16, bf16, i32, u32]),
    params(THREADS in [4, 8, 32, 48, 64, 100, 256], ROWS in [1, 2, 3]),
    baseline(THREADS = 32, ROWS = 1),
    grid(rows.div_ceil(ROWS)),
    block(THREADS, ROWS),
    problems((rows = 20, cols = 80)),
    verify((rows = 1, cols = 1), (rows = 5, cols = 37), (rows = 7, cols = 64)),
    tolerance(relative = 0),
    reference = expected::blocks,
)]
unsafe extern "C" {
    pub fn blocks(
        rows: u32,
        cols: u32,
        #[len(rows * cols)]
        #[fill(below(4))]
        x: &[T],
        #[len(rows * cols)] sums: &mut [T],
        #[len(rows * cols)] maxima: &mut [T],
        #[len(rows * cols)] minima: &mut [T],
        #[len(rows * cols)] sent: &mut [u32],
    );
}

#[tuned_kernel(
    source = "../../fixtures/prelude/atomics.cu",
    types(T in [f32, f16, bf16, i32]),
    params(THREADS in [32, 64, 96]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 500)),
    verify((n = 1), (n = 64), (n = 451)),
    tolerance(relative = 0),
    reference = expected::atomics,
)]
unsafe extern "C" {
    pub fn atomics(
        n: u32,
        #[len(n)]
        #[fill(below(16))]
        keys: &[u32],
        #[len(n)]
        #[fill(below(4))]
        x: &[T],
        #[len(n)]
        #[fill(uniform(-100, 100))]
        y: &[T],
        #[len(16)]
        #[fill(below(4))]
        #[inout]
        sums: &mut [T],
        #[len(16)]
        #[fill(uniform(-100, 20))]
        #[inout]
        maxima: &mut [T],
        #[len(16)]
        #[fill(uniform(-20, 100))]
        #[inout]
        minima: &mut [T],
        #[len(16)]
        #[fill(below(4))]
        #[inout]
        shared_sums: &mut [T],
        #[len(16)]
        #[fill(uniform(-100, 20))]
        #[inout]
        shared_maxima: &mut [T],
        #[len(1)]
        #[fill(constant(0))]
        #[inout]
        counter: &mut [u32],
        #[len(n)]
        #[fill(constant(0))]
        #[inout]
        tickets: &mut [u32],
    );
}

#[tuned_kernel(
    source = "../../fixtures/prelude/atomics.cu",
    entry = "atomics",
    types(T in [u32]),
    params(THREADS in [32, 64, 96]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 500)),
    verify((n = 1), (n = 64), (n = 451)),
    tolerance(relative = 0),
    reference = expected::atomics,
)]
unsafe extern "C" {
    pub fn atomics_unsigned(
        n: u32,
        #[len(n)]
        #[fill(below(16))]
        keys: &[u32],
        #[len(n)]
        #[fill(below(4))]
        x: &[T],
        #[len(n)]
        #[fill(uniform(0, 100))]
        y: &[T],
        #[len(16)]
        #[fill(below(4))]
        #[inout]
        sums: &mut [T],
        #[len(16)]
        #[fill(uniform(0, 20))]
        #[inout]
        maxima: &mut [T],
        #[len(16)]
        #[fill(uniform(0, 100))]
        #[inout]
        minima: &mut [T],
        #[len(16)]
        #[fill(below(4))]
        #[inout]
        shared_sums: &mut [T],
        #[len(16)]
        #[fill(uniform(0, 20))]
        #[inout]
        shared_maxima: &mut [T],
        #[len(1)]
        #[fill(constant(0))]
        #[inout]
        counter: &mut [u32],
        #[len(n)]
        #[fill(constant(0))]
        #[inout]
        tickets: &mut [u32],
    );
}

#[tuned_kernel(
    source = "../../fixtures/prelude/copies.cu",
    types(T in [f32, f16, bf16, u8]),
    params(STAGES in [1, 2, 3, 4], BYTES in [4, 8, 16], THREADS in [32, 64]),
    baseline(STAGES = 1, BYTES = 4, THREADS = 32),
    grid(1),
    block(THREADS),
    problems((n = 5000)),
    verify((n = 1), (n = 2048), (n = 3333), (n = 100)),
    tolerance(relative = 0),
    reference = expected::copies,
)]
unsafe extern "C" {
    pub fn copies(
        n: u32,
        #[len(n)]
        #[align(16 / size_of(T))]
        #[fill(below(100))]
        x: &[T],
        #[len(n)] y: &mut [T],
    );
}

#[tuned_kernel(
    source = "../../fixtures/prelude/reversed.cu",
    types(T in [f32, bf16, u8]),
    params(THREADS in [32, 64, 128]),
    baseline(THREADS = 64),
    grid(n.div_ceil(64)),
    block(THREADS),
    shared(64 * size_of(T)),
    problems((n = 1000)),
    verify((n = 1), (n = 64), (n = 129)),
    tolerance(relative = 0),
    reference = expected::reversed,
)]
unsafe extern "C" {
    pub fn reversed(
        n: u32,
        #[len(n)]
        #[fill(below(100))]
        x: &[T],
        #[len(n)] y: &mut [T],
        #[len(n)] quotients: &mut [u32],
        #[len(n)] multiples: &mut [u32],
    );
}

// Products are exact in single precision. Sums depend on the order of addition.
#[tuned_kernel(
    source = "../../fixtures/prelude/tiles.cu",
    types(T in [f16, bf16]),
    params(
        LAYOUT_A in [row, col], LAYOUT_B in [row, col, pairs], LAYOUT_C in [row, col],
        LOAD in [plain, aligned, part],
    ),
    baseline(LAYOUT_A = row, LAYOUT_B = row, LAYOUT_C = row, LOAD = plain),
    grid(n.div_ceil(16), m.div_ceil(16)),
    block(32),
    problems((m = 40, n = 48, k = 64)),
    verify((m = 16, n = 16, k = 16), (m = 1, n = 1, k = 1), (m = 33, n = 18, k = 37)),
    tolerance(relative = 1e-5),
    reference = expected::tiles,
)]
unsafe extern "C" {
    pub fn tiles(
        m: u32,
        n: u32,
        k: u32,
        #[len(m * k)] a: &[T],
        #[len(k * n)]
        #[align(8)]
        b: &[T],
        #[len(m * n)]
        #[inout]
        c: &mut [f32],
        #[len(m * n)]
        #[tolerance(relative = 0.02)]
        rounded: &mut [T],
    );
}

#[tuned_kernel(
    source = "../../fixtures/prelude/tile_maps.cu",
    params(WARPS in [1, 4]),
    baseline(WARPS = 1),
    grid(n.div_ceil(256 * WARPS)),
    block(32 * WARPS),
    problems((n = 1280)),
    verify((n = 256)),
    reference = expected::tile_maps,
)]
unsafe extern "C" {
    pub fn tile_maps(
        n: u32,
        #[len(n)] a: &mut [u32],
        #[len(n)] b: &mut [u32],
        #[len(n)] acc: &mut [u32],
    );
}

// Two units in the last place, and a few more for the product of two powers, because their exponents are rounded, too.
#[tuned_kernel(
    source = "../../fixtures/prelude/exp2.cu",
    params(THREADS in [32, 128]),
    baseline(THREADS = 32),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 4100)),
    verify((n = 1), (n = 515)),
    tolerance(relative = 2e-6),
    reference = expected::exp2,
)]
unsafe extern "C" {
    pub fn exp2(
        n: u32,
        #[len(n)]
        #[fill(uniform(-2, 2))]
        x: &[f32],
        #[len(n)]
        #[tolerance(relative = 3e-7)]
        small: &mut [f32],
        #[len(n)] large: &mut [f32],
        #[len(n)] limits: &mut [u32],
    );
}

// The elements of every lane are at least 1. Weights are rounded once, which for bf16 is an error of up to 2^-8.
#[tuned_kernel(
    source = "../../fixtures/prelude/tile_chain.cu",
    types(T in [f16, bf16]),
    params(WARPS in [1, 2], ALIGNED in [1, 2, 8]),
    baseline(WARPS = 1, ALIGNED = 1),
    grid(tiles.div_ceil(WARPS)),
    block(32 * WARPS),
    problems((tiles = 5, rows = 16, cols = 16)),
    verify((tiles = 1, rows = 3, cols = 8), (tiles = 2, rows = 9, cols = 16)),
    tolerance(relative = 0.01),
    reference = expected::tile_chain,
)]
unsafe extern "C" {
    pub fn tile_chain(
        tiles: u32,
        rows: i32,
        cols: i32,
        #[len(tiles * 256)]
        #[fill(uniform(1, 2))]
        #[align(8)]
        a: &[T],
        #[len(tiles * 256)]
        #[fill(uniform(1, 2))]
        #[align(8)]
        b: &[T],
        #[len(tiles * 256)]
        #[align(8)]
        c: &[T],
        #[len(tiles * 16)] largest: &mut [f32],
        #[len(tiles * 256)]
        #[fill(constant(7))]
        #[inout]
        #[align(8)]
        p: &mut [T],
        #[len(tiles * 256)]
        #[align(4)]
        d: &mut [f32],
    );
}

// Results are rounded once, which for bf16 is an error of up to 2^-8. The rest is the error of the sum.
#[tuned_kernel(
    source = "../../fixtures/prelude/rms_norm.cu",
    types(T in [f32, f16, bf16]),
    params(THREADS in [32, 96, 256], WIDTH in [1, 2, 4, 8]),
    baseline(THREADS = 256, WIDTH = 1),
    grid(rows),
    block(THREADS),
    problems((rows = 7, cols = 520)),
    verify((rows = 1, cols = 1), (rows = 3, cols = 333), (rows = 2, cols = 4)),
    tolerance(relative = 0.0045),
    reference = expected::rms_norm,
)]
unsafe extern "C" {
    pub fn rms_norm(
        rows: u32,
        cols: u32,
        #[value(0.00001)] epsilon: f32,
        #[len(rows * cols)] x: &[T],
        #[len(cols)] w: &[T],
        #[len(rows * cols)] y: &mut [T],
    );
}

#[tuned_kernel(
    source = "../../fixtures/prelude/matmul.cu",
    types(T in [f16, bf16]),
    params(
        WARPS_M in [1, 2],
        WARPS_N in [1, 2],
        TILES_M in [1, 2, 4],
        TILES_N in [1, 2, 4],
        BLOCK_K in [16, 32, 64],
        STAGES in [2, 3],
    ),
    where(
        STAGES * (16 * WARPS_M * TILES_M * (BLOCK_K + 8) + BLOCK_K * (16 * WARPS_N * TILES_N + 8)) * 2
            <= device.shared_bytes_per_block,
    ),
    baseline(WARPS_M = 1, WARPS_N = 1, TILES_M = 1, TILES_N = 1, BLOCK_K = 16, STAGES = 2),
    grid(n.div_ceil(16 * WARPS_N * TILES_N), m.div_ceil(16 * WARPS_M * TILES_M)),
    block(32 * WARPS_M * WARPS_N),
    shared(STAGES * (16 * WARPS_M * TILES_M * (BLOCK_K + 8) + BLOCK_K * (16 * WARPS_N * TILES_N + 8)) * 2),
    problems((m = 70, n = 136, k = 200)),
    verify((m = 1, n = 8, k = 8), (m = 33, n = 40, k = 72), (m = 64, n = 64, k = 16)),
    tolerance(relative = 2e-5),
    reference = expected::matmul,
)]
unsafe extern "C" {
    pub fn matmul(
        m: u32,
        n: u32,
        k: u32,
        #[len(m * k)]
        #[align(8)]
        a: &[T],
        #[len(k * n)]
        #[align(8)]
        b: &[T],
        #[len(m * n)]
        #[align(8)]
        c: &mut [T],
    );
}
