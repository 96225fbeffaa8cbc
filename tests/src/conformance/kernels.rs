//! The kernels that the suite launches, with their references. The fake device executes the references instead of code.
#![allow(
    deprecated,
    reason = "none of them is baked: they are launched as their baselines"
)]

use kiln::tuned_kernel;

/// The reference of [`number_threads`].
#[allow(clippy::too_many_arguments, reason = "the kernel's")]
pub fn numbered(
    _: u32,
    _: u32,
    _: u32,
    _: u32,
    _: u32,
    _: u32,
    ids: &mut [u32],
    visits: &mut [i32],
) {
    for (number, id) in (0..).zip(ids) {
        *id = number;
    }
    for visits in visits {
        *visits += 1;
    }
}

#[tuned_kernel(
    source = "kernels/number_threads.cu",
    params(BARRIER in [false, true]),
    baseline(BARRIER = true),
    grid(grid_x, grid_y, grid_z),
    block(block_x, block_y, block_z),
    problems((grid_x = 3, grid_y = 2, grid_z = 2, block_x = 5, block_y = 4, block_z = 3)),
    reference = numbered,
)]
unsafe extern "C" {
    /// Each thread writes its number, and counts its visit.
    pub fn number_threads(
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        #[len(grid_x * grid_y * grid_z * block_x * block_y * block_z)] ids: &mut [u32],
        #[len(grid_x * grid_y * grid_z * block_x * block_y * block_z)]
        #[inout]
        #[fill(constant(0))]
        visits: &mut [i32],
    );
}

/// The reference of [`mirror`].
pub fn mirrored(n: u32, x: &[i32], y: &mut [i32]) {
    const THREADS: usize = 64;
    for (i, y) in y.iter_mut().enumerate() {
        let opposite = i / THREADS * THREADS + THREADS - 1 - i % THREADS;
        let held = if opposite < n as usize {
            x[opposite]
        } else {
            0
        };
        *y = held + 1000 * (i / THREADS) as i32;
    }
}

#[tuned_kernel(
    source = "kernels/mirror.cu",
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    shared(4 * THREADS),
    problems((n = 1000)),
    reference = mirrored,
)]
unsafe extern "C" {
    /// Reverses each block of elements through shared memory.
    pub fn mirror(
        n: u32,
        #[len(n)]
        #[fill(iota)]
        x: &[i32],
        #[len(n)] y: &mut [i32],
    );
}

/// The reference of [`scalars`].
pub fn spelled(a: i32, b: u32, c: i64, d: u64, e: f32, words: &mut [u8]) {
    let scaled = (e * 1024.0) as u32;
    let bytes = [a.to_le_bytes(), b.to_le_bytes()].concat();
    let wide = [c.to_le_bytes(), d.to_le_bytes()].concat();
    let all = bytes.into_iter().chain(wide).chain(scaled.to_le_bytes());
    for (word, byte) in words.iter_mut().zip(all) {
        *word = byte;
    }
}

#[tuned_kernel(
    source = "kernels/scalars.cu",
    params(LANES in [32]),
    baseline(LANES = 32),
    grid(1),
    block(LANES),
    reference = spelled,
)]
unsafe extern "C" {
    /// Writes the values of its scalar arguments.
    pub fn scalars(
        #[value(-7)] a: i32,
        #[value(4000000000)] b: u32,
        #[value(-5000000000)] c: i64,
        #[value(9000000000000000000)] d: u64,
        #[value(0.75)] e: f32,
        #[len(28)] words: &mut [u8],
    );
}

/// The reference of [`add_one`].
pub fn one_more(_: u32, x: &mut [i32]) {
    for x in x {
        *x += 1;
    }
}

#[tuned_kernel(
    source = "kernels/add_one.cu",
    params(THREADS in [64]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
    reference = one_more,
)]
unsafe extern "C" {
    /// Adds one to every element.
    pub fn add_one(
        n: u32,
        #[len(n)]
        #[inout]
        #[fill(iota)]
        x: &mut [i32],
    );
}

/// The reference of [`churn`].
pub fn churned(n: u32, rounds: u32, x: &mut [u32]) {
    for i in 0..n {
        let stir = |value: u32, _| value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        x[i as usize] = (0..rounds).fold(i, stir);
    }
}

#[tuned_kernel(
    source = "kernels/churn.cu",
    params(THREADS in [64]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000, rounds = 100)),
    reference = churned,
)]
unsafe extern "C" {
    /// Takes a measurable amount of time.
    pub fn churn(n: u32, rounds: u32, #[len(n)] x: &mut [u32]);
}
