//! A small kernel that uses each kind of memory.
#![allow(deprecated, reason = "it is not baked: that is the warning")]

use kiln::tuned_kernel;

#[tuned_kernel(
    source = "../../../fixtures/planted/small.cu",
    params(THREADS in [64]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 200)),
    verify((n = 128), (n = 1)),
    tolerance(relative = 0),
    reference = reference,
)]
unsafe extern "C" {
    pub fn small(
        n: u32,
        #[len(n)]
        #[fill(below(100))]
        x: &[f32],
        #[len(n)] y: &mut [f32],
        #[len(n)] odd: &mut [u32],
        #[len(8)]
        #[fill(constant(5))]
        #[inout]
        bins: &mut [u32],
        #[len(n)] sums: &mut [f32],
    );
}

fn reference(
    n: u32,
    x: &[f32],
    y: &mut [f64],
    odd: &mut [u32],
    bins: &mut [u32],
    sums: &mut [f64],
) {
    const THREADS: usize = 64;
    let x = |i: usize| x.get(i).map_or(0.0, |x| f64::from(*x));
    for i in 0..n as usize {
        let (block, thread) = (i / THREADS * THREADS, i % THREADS);
        y[i] = x(block + THREADS - 1 - thread) + 1000.0 * x(block + (thread ^ 33));
        let count = (block..block + THREADS).filter(|i| x(*i) as u32 & 1 != 0);
        odd[i] = count.count() as u32;
        bins[x(i) as usize % 8] += 1;
        sums[i] = x(i) * 36.0;
    }
}
