//! One mistake: a slice without a length.

#[kiln::tuned_kernel(
    source = "kernel.cu",
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
)]
unsafe extern "C" {
    pub fn twice(n: u32, x: &[f32], #[len(n)] y: &mut [f32]);
}

fn main() {}
