//! Random kernels that keep values of every type across barriers and warp operations, and the results that are
//! expected of them.

use std::fmt::Write;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Threads per block. It is a multiple of the warp size, because missing lanes have no value to shuffle.
pub const BLOCK: u32 = 96;
/// Number of input elements. It is not a multiple of the block, so the last block is partial.
pub const ELEMENTS: u32 = 5 * BLOCK + 37;
/// Number of times that a kernel runs its steps.
pub const ROUNDS: u32 = 3;

const BOOLS: usize = 5;
const UINTS: usize = 4;
const FLOATS: usize = 4;

/// One step of a kernel. Every thread runs every step, so barriers are never divergent.
#[derive(Clone, Copy, Debug)]
enum Step {
    Barrier,
    SyncWarp,
    /// Through shared memory, `to` receives the value of `from` of the thread that is `by` positions further.
    Rotate {
        to: usize,
        from: usize,
        by: u32,
    },
    ShuffleUint {
        to: usize,
        from: usize,
        lanes: u32,
    },
    ShuffleFloat {
        to: usize,
        from: usize,
        lanes: u32,
    },
    ShuffleWide {
        lanes: u32,
    },
    Ballot {
        to: usize,
        of: usize,
    },
    Count {
        to: usize,
        of: usize,
    },
    TestBits {
        to: usize,
        of: usize,
        bits: u32,
    },
    Compare {
        to: usize,
        left: usize,
        right: usize,
    },
    AddIf {
        when: usize,
        to: usize,
        from: usize,
    },
    MixIf {
        when: usize,
        to: usize,
        from: usize,
        factor: u32,
    },
    Gather {
        uint: usize,
        float: usize,
    },
}

/// A kernel as a list of steps.
#[derive(Clone, Debug)]
pub struct Program {
    steps: Vec<Step>,
}

/// The values of one thread.
#[derive(Clone, Copy, Default)]
struct Thread {
    inside: bool,
    bools: [bool; BOOLS],
    uints: [u32; UINTS],
    floats: [f32; FLOATS],
    double: f64,
    wide: u64,
    // The type is `long double` in the kernel. Its values are small integers, which are exact in both types.
    extended: f64,
}

impl Program {
    /// The program for a seed.
    pub fn of(seed: u64) -> Program {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let steps = rng.random_range(8..16);
        Program {
            steps: (0..steps).map(|_| step(&mut rng)).collect(),
        }
    }

    /// The kernel as CUDA source.
    pub fn source(&self, name: &str) -> String {
        let mut text = format!(
            "__global__ void {name}(unsigned n, unsigned rounds, const unsigned* x, unsigned* out) {{\n\
             __shared__ unsigned s[{BLOCK}];\n\
             const unsigned t = threadIdx.x, i = blockIdx.x * {BLOCK} + t;\n\
             const bool inside = i < n;\n\
             const unsigned v = inside ? x[i] : 7u;\n"
        );
        for k in 0..BOOLS {
            line(&mut text, &format!("bool b{k} = v >> {k} & 1;"));
        }
        for k in 0..UINTS {
            line(
                &mut text,
                &format!("unsigned u{k} = v * {}u + t;", 2 * k + 3),
            );
        }
        for k in 0..FLOATS {
            line(
                &mut text,
                &format!("float f{k} = (float)(v >> {k} & 1023u);"),
            );
        }
        line(&mut text, "double d = v & 255u; unsigned long long q = v;");
        line(&mut text, "long double l = t;");
        line(
            &mut text,
            "for (unsigned round = 0; round < rounds; round++) {",
        );
        for step in &self.steps {
            line(&mut text, &source_of(step));
        }
        line(&mut text, "}");
        line(
            &mut text,
            "if (inside) out[i] = (u0 ^ u1 * 3u ^ u2 * 5u ^ u3 * 7u) + (unsigned)(f0 + 2 * f1 + 4 * f2 + 8 * f3) * 11u \
             + (unsigned)(unsigned long long)d * 13u + (unsigned)(q ^ q >> 32) + (unsigned)l * 17u \
             + (b0 + 2u * b1 + 4u * b2 + 8u * b3 + 16u * b4) * 0x10000u;\n}",
        );
        text
    }

    /// The outputs of the kernel for these inputs.
    pub fn outputs(&self, input: &[u32]) -> Vec<u32> {
        let block = |(number, values): (usize, &[u32])| {
            let mut threads = start(number as u32 * BLOCK, input.len() as u32, values);
            for _ in 0..ROUNDS {
                for step in &self.steps {
                    run(step, &mut threads);
                }
            }
            let written = threads.into_iter().filter(|thread| thread.inside);
            written.map(|thread| result(&thread)).collect::<Vec<_>>()
        };
        let blocks = input.chunks(BLOCK as usize).enumerate();
        blocks.flat_map(block).collect()
    }
}

fn line(text: &mut String, what: &str) {
    writeln!(text, "{what}").expect("a string takes everything");
}

fn step(rng: &mut impl Rng) -> Step {
    let (b, c) = (rng.random_range(0..BOOLS), rng.random_range(0..UINTS));
    let (u, f, g) = (
        rng.random_range(0..UINTS),
        rng.random_range(0..FLOATS),
        rng.random_range(0..FLOATS),
    );
    let lanes = rng.random_range(1..32);
    match rng.random_range(0..13) {
        0 => Step::Barrier,
        1 => Step::SyncWarp,
        2 => Step::Rotate {
            to: u,
            from: c,
            by: rng.random_range(1..BLOCK),
        },
        3 => Step::ShuffleUint {
            to: u,
            from: c,
            lanes,
        },
        4 => Step::ShuffleFloat {
            to: f,
            from: g,
            lanes,
        },
        5 => Step::ShuffleWide { lanes },
        6 => Step::Ballot { to: u, of: b },
        7 => Step::Count { to: u, of: b },
        8 => Step::TestBits {
            to: b,
            of: u,
            bits: rng.random(),
        },
        9 => Step::Compare {
            to: b,
            left: f,
            right: g,
        },
        10 => Step::AddIf {
            when: b,
            to: f,
            from: g,
        },
        11 => Step::MixIf {
            when: b,
            to: u,
            from: c,
            factor: rng.random(),
        },
        _ => Step::Gather { uint: u, float: f },
    }
}

fn source_of(step: &Step) -> String {
    match *step {
        Step::Barrier => "__syncthreads();".into(),
        Step::SyncWarp => "__syncwarp();".into(),
        Step::Rotate { to, from, by } => format!(
            "s[t] = u{from}; __syncthreads(); u{to} = s[(t + {by}u) % {BLOCK}u]; __syncthreads();"
        ),
        Step::ShuffleUint { to, from, lanes } => {
            format!("u{to} = __shfl_xor_sync(0xffffffffu, u{from}, {lanes});")
        }
        Step::ShuffleFloat { to, from, lanes } => {
            format!("f{to} = __shfl_xor_sync(0xffffffffu, f{from}, {lanes});")
        }
        Step::ShuffleWide { lanes } => format!("q = __shfl_xor_sync(0xffffffffu, q, {lanes});"),
        Step::Ballot { to, of } => format!("u{to} = __ballot_sync(0xffffffffu, b{of});"),
        Step::Count { to, of } => format!("u{to} += __syncthreads_count(b{of});"),
        Step::TestBits { to, of, bits } => format!("b{to} = (u{of} & {bits}u) > {}u;", bits / 2),
        Step::Compare { to, left, right } => format!("b{to} = f{left} > f{right};"),
        Step::AddIf { when, to, from } => {
            format!("if (b{when}) f{to} = (float)((int)(f{to} + f{from}) & 1023);")
        }
        Step::MixIf {
            when,
            to,
            from,
            factor,
        } => {
            format!("if (b{when}) u{to} = u{to} * {factor}u + u{from};")
        }
        Step::Gather { uint, float } => {
            format!("d += f{float}; q = q * 6364136223846793005ull + u{uint}; l += u{uint} & 7u;")
        }
    }
}

fn start(first: u32, n: u32, values: &[u32]) -> Vec<Thread> {
    let thread = |t: u32| {
        let inside = first + t < n;
        let v = if inside { values[t as usize] } else { 7 };
        Thread {
            inside,
            bools: std::array::from_fn(|k| v >> k & 1 == 1),
            uints: std::array::from_fn(|k| v.wrapping_mul(2 * k as u32 + 3).wrapping_add(t)),
            floats: std::array::from_fn(|k| (v >> k & 1023) as f32),
            double: f64::from(v & 255),
            wide: u64::from(v),
            extended: f64::from(t),
        }
    };
    (0..BLOCK).map(thread).collect()
}

fn run(step: &Step, threads: &mut [Thread]) {
    let before = threads.to_vec();
    let count = |of: usize| before.iter().filter(|thread| thread.bools[of]).count() as u32;
    for (t, thread) in threads.iter_mut().enumerate() {
        let partner = |lanes: u32| &before[t ^ lanes as usize];
        match *step {
            Step::Barrier | Step::SyncWarp => {}
            Step::Rotate { to, from, by } => {
                thread.uints[to] = before[(t + by as usize) % BLOCK as usize].uints[from];
            }
            Step::ShuffleUint { to, from, lanes } => thread.uints[to] = partner(lanes).uints[from],
            Step::ShuffleFloat { to, from, lanes } => {
                thread.floats[to] = partner(lanes).floats[from];
            }
            Step::ShuffleWide { lanes } => thread.wide = partner(lanes).wide,
            Step::Ballot { to, of } => {
                let warp = &before[t / 32 * 32..][..32];
                let lanes = warp.iter().enumerate();
                thread.uints[to] = lanes
                    .map(|(lane, it)| u32::from(it.bools[of]) << lane)
                    .sum();
            }
            Step::Count { to, of } => thread.uints[to] = thread.uints[to].wrapping_add(count(of)),
            Step::TestBits { to, of, bits } => {
                thread.bools[to] = thread.uints[of] & bits > bits / 2;
            }
            Step::Compare { to, left, right } => {
                thread.bools[to] = thread.floats[left] > thread.floats[right];
            }
            Step::AddIf { when, to, from } if thread.bools[when] => {
                let sum = (thread.floats[to] + thread.floats[from]) as i32;
                thread.floats[to] = (sum & 1023) as f32;
            }
            Step::MixIf {
                when,
                to,
                from,
                factor,
            } if thread.bools[when] => {
                let product = thread.uints[to].wrapping_mul(factor);
                thread.uints[to] = product.wrapping_add(thread.uints[from]);
            }
            Step::AddIf { .. } | Step::MixIf { .. } => {}
            Step::Gather { uint, float } => {
                thread.double += f64::from(thread.floats[float]);
                let product = thread.wide.wrapping_mul(6_364_136_223_846_793_005);
                thread.wide = product.wrapping_add(u64::from(thread.uints[uint]));
                thread.extended += f64::from(thread.uints[uint] & 7);
            }
        }
    }
}

fn result(thread: &Thread) -> u32 {
    let [u0, u1, u2, u3] = thread.uints;
    let [f0, f1, f2, f3] = thread.floats;
    let mixed = u0 ^ u1.wrapping_mul(3) ^ u2.wrapping_mul(5) ^ u3.wrapping_mul(7);
    let floats = (f0 + 2.0 * f1 + 4.0 * f2 + 8.0 * f3) as u32;
    let bools = thread.bools.iter().enumerate();
    let bools: u32 = bools.map(|(k, &bool)| u32::from(bool) << k).sum();
    let terms = [
        floats.wrapping_mul(11),
        (thread.double as u64 as u32).wrapping_mul(13),
        (thread.wide ^ thread.wide >> 32) as u32,
        (thread.extended as u32).wrapping_mul(17),
        bools.wrapping_mul(0x10000),
    ];
    terms.into_iter().fold(mixed, u32::wrapping_add)
}
