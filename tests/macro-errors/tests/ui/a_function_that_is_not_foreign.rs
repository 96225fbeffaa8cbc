//! One mistake: a function that is not foreign.

#[kiln::tuned_kernel(
    source = "kernel.cu",
    params(THREADS in [64, 128]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
)]
pub fn twice() {}

fn main() {}
