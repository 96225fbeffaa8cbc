//! Kernels that were written for NVIDIA's headers: cooperative groups, CUB, the copies in `<cuda_pipeline.h>`,
//! `nvcuda::wmma` and the standard library. On the cpu device and on AMD GPUs, Kiln's headers replace these headers.
#![allow(
    deprecated,
    clippy::too_many_arguments,
    reason = "none of them is baked: that is the warning; the arguments are those of the sources"
)]

use kiln::{Element, tuned_kernel};
use kiln_tests::capability::{Need, have};

/// All kernels of this file.
pub const ALL: &[&kiln::Kernel] = &[
    &groups::KERNEL,
    &collectives::KERNEL,
    &sorting::KERNEL,
    &library::KERNEL,
    &standard::KERNEL,
    &fragments::KERNEL,
    &lanes::KERNEL,
    &ptx::KERNEL,
];

#[tuned_kernel(
    source = "../../fixtures/prelude/groups.cu",
    params(THREADS in [96], TILE in [8]),
    baseline(THREADS = 96, TILE = 8),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 960)),
    verify((n = 100), (n = 1)),
    tolerance(relative = 0),
    reference = groups_reference,
)]
unsafe extern "C" {
    pub fn groups(
        n: u32,
        #[len(n)]
        #[fill(below(100))]
        x: &[i32],
        #[len(n)] sums: &mut [i32],
        #[len(n)] most: &mut [i32],
        #[len(n)] scans: &mut [i32],
        #[len(n)] votes: &mut [i32],
        #[len(n)] moved: &mut [i32],
    );
}

fn groups_reference(
    n: u32,
    x: &[i32],
    sums: &mut [i32],
    most: &mut [i32],
    scans: &mut [i32],
    votes: &mut [i32],
    moved: &mut [i32],
) {
    const THREADS: usize = 96;
    const TILE: usize = 8;
    for i in 0..n as usize {
        let block = i / THREADS * THREADS;
        let at = |thread: usize| x.get(block + (thread ^ 1)).copied().unwrap_or(0);
        let thread = i - block;
        let first = thread / TILE * TILE;
        let tile: Vec<i32> = (first..first + TILE).map(at).collect();
        let rank = thread - first;
        sums[i] = tile.iter().sum();
        most[i] = tile.iter().copied().fold(0, i32::max);
        scans[i] = tile[..=rank].iter().sum::<i32>() + (thread / TILE) as i32;
        let odd = tile.iter().rev().fold(0, |bits, v| bits * 2 + v % 2);
        votes[i] = odd
            + 65536 * (i32::from(tile.contains(&3)) + 2 * i32::from(tile.iter().all(|v| *v < 90)));
        let below = tile[rank.saturating_sub(1)];
        let above = tile[(rank + 1).min(TILE - 1)];
        let counted = (0..THREADS).filter(|thread| at(*thread) % 2 == 1).count() as i32;
        moved[i] =
            below + 100 * above + 10000 * tile[rank ^ 1] + tile[TILE - 1] + counted * 1_000_000;
    }
}

#[tuned_kernel(
    source = "../../fixtures/prelude/collectives.cu",
    params(THREADS in [96]),
    baseline(THREADS = 96),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 960)),
    verify((n = 1001), (n = 50)),
    tolerance(relative = 0),
    reference = collectives_reference,
)]
unsafe extern "C" {
    pub fn collectives(
        n: u32,
        #[len(n)]
        #[fill(below(100))]
        x: &[i32],
        #[len(n)] before: &mut [i32],
        #[len(n)] through: &mut [i32],
        #[len(n.div_ceil(96))] sums: &mut [i32],
        #[len(n.div_ceil(96))] most: &mut [i32],
        #[len(n.div_ceil(32))] warps: &mut [i32],
    );
}

fn collectives_reference(
    _n: u32,
    x: &[i32],
    before: &mut [i32],
    through: &mut [i32],
    sums: &mut [i32],
    most: &mut [i32],
    warps: &mut [i32],
) {
    for (block, values) in x.chunks(96).enumerate() {
        sums[block] = values.iter().sum();
        most[block] = values.iter().copied().fold(0, i32::max);
        let mut running = 0;
        for (thread, value) in values.iter().enumerate() {
            before[block * 96 + thread] = running + 1000 * sums[block];
            running += value;
            through[block * 96 + thread] = running + thread as i32 + 1;
        }
    }
    for (warp, values) in x.chunks(32).enumerate() {
        warps[warp] = values.iter().sum();
    }
}

#[tuned_kernel(
    source = "../../fixtures/prelude/sorting.cu",
    params(THREADS in [64], ITEMS in [3], HOW in [direct, transpose, warps]),
    baseline(THREADS = 64, ITEMS = 3, HOW = direct),
    grid(n.div_ceil(THREADS * ITEMS)),
    block(THREADS),
    problems((n = 576)),
    verify((n = 500), (n = 20)),
    tolerance(relative = 0),
    reference = sorting_reference,
)]
unsafe extern "C" {
    pub fn sorting(
        n: i32,
        #[len(n)] x: &[f32],
        #[len(n)]
        #[fill(uniform(-300, 300))]
        y: &[i32],
        #[len(n)] sorted: &mut [f32],
        #[len(n)] order: &mut [i32],
        #[len(n)] falling: &mut [i32],
        #[len(n)] striped: &mut [i32],
        #[len(n)] flags: &mut [i32],
        #[len(16 * n.div_ceil(192))] counts: &mut [u32],
    );
}

fn sorting_reference(
    _n: i32,
    x: &[f32],
    y: &[i32],
    sorted: &mut [f64],
    order: &mut [i32],
    falling: &mut [i32],
    striped: &mut [i32],
    flags: &mut [i32],
    counts: &mut [u32],
) {
    const TILE: usize = 192;
    counts.fill(0);
    for (block, (x, y)) in x.chunks(TILE).zip(y.chunks(TILE)).enumerate() {
        let first = block * TILE;
        let mut keys: Vec<(f32, usize)> = x.iter().copied().zip(0..).collect();
        for (key, _) in &mut keys {
            *key = if key.abs() < 0.25 { 0.0 } else { *key };
        }
        keys.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        for (at, (key, place)) in keys.into_iter().enumerate() {
            sorted[first + at] = key.into();
            order[first + at] = place as i32;
        }
        let mut items = y.to_vec();
        items.resize(TILE, -1000);
        let mut by_bits = items.clone();
        by_bits.sort_by_key(|item| std::cmp::Reverse(*item >> 2 & 127));
        for at in 0..x.len() {
            falling[first + at] = by_bits[at];
            striped[first + at] = (TILE - 1 - at) as i32;
            let differ = |one: usize, next: usize| items[one] / 8 != items[next] / 8;
            let head = at == 0 || differ(at - 1, at);
            let tail = at == TILE - 1 || differ(at, at + 1);
            let even = at % 2 == 0 && (at == 0 || items[at - 1] != items[at]);
            flags[first + at] = i32::from(head) + 2 * i32::from(tail) + 4 * i32::from(even);
        }
        for item in items {
            counts[block * 16 + (item & 15) as usize] += 1;
        }
    }
}

#[tuned_kernel(
    source = "../../fixtures/prelude/library.cu",
    params(THREADS in [64]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS * 4)),
    block(THREADS),
    problems((n = 1024)),
    verify((n = 999), (n = 7)),
    tolerance(relative = 1e-6),
    reference = library_reference,
)]
unsafe extern "C" {
    pub fn library(n: u32, #[len(n)] x: &[f32], #[len(n.div_ceil(4))] y: &mut [f32]);
}

fn library_reference(n: u32, x: &[f32], y: &mut [f64]) {
    let at = |i: usize| x.get(i).map_or(0.0, |x| f64::from(x.abs()));
    debug_assert_eq!(y.len(), n.div_ceil(4) as usize);
    for (i, y) in y.iter_mut().enumerate() {
        let from = (i ^ 1) * 4;
        *y = at(from + 1).sqrt() + at(from + 2) + at(from + 3);
    }
}

#[tuned_kernel(
    source = "../../fixtures/prelude/standard.cu",
    params(THREADS in [64]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 256)),
    verify((n = 100), (n = 7)),
    tolerance(relative = 0),
    reference = standard_reference,
)]
unsafe extern "C" {
    pub fn standard(
        n: u32,
        #[len(n)]
        #[fill(below(80))]
        x: &[i32],
        #[len(n)] bounds: &mut [i32],
        #[len(n)] values: &mut [i32],
        #[len(n)] words: &mut [u32],
    );
}

fn standard_reference(
    _n: u32,
    x: &[i32],
    bounds: &mut [i32],
    values: &mut [i32],
    words: &mut [u32],
) {
    let ordered = [10, 20, 20, 20, 50, 70];
    for (i, &x) in x.iter().enumerate() {
        let lower = ordered.partition_point(|&y| y < x) as i32;
        let upper = ordered.partition_point(|&y| y <= x) as i32;
        bounds[i] = lower + 10 * upper + 100;
        values[i] = x.clamp(20, 50) + 100 * x.min(30) + 10_000 * x.max(30) + 1_000_000;
        words[i] = philox(i as u32 / 4)[i % 4];
    }
}

/// Four numbers of Philox4x32-10 for key 0 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
fn philox(block: u32) -> [u32; 4] {
    let product = |a: u32, b: u32| {
        let product = u64::from(a) * u64::from(b);
        ((product >> 32) as u32, product as u32)
    };
    let (mut c, mut key) = ([block, 0, 0, 0], [0_u32; 2]);
    for _ in 0..10 {
        let (high0, low0) = product(0xD251_1F53, c[0]);
        let (high1, low1) = product(0xCD9E_8D57, c[2]);
        c = [high1 ^ c[1] ^ key[0], low1, high0 ^ c[3] ^ key[1], low0];
        key[0] = key[0].wrapping_add(0x9E37_79B9);
        key[1] = key[1].wrapping_add(0xBB67_AE85);
    }
    c
}

#[tuned_kernel(
    source = "../../fixtures/prelude/fragments.cu",
    types(T in [f16, bf16]),
    params(M in [8, 16, 32]),
    baseline(M = 16),
    grid(n / (256 / M), m / M),
    block(32),
    problems((m = 64, n = 96, k = 48)),
    verify((m = 32, n = 32, k = 16)),
    tolerance(relative = 1e-3, absolute = 1e-3),
    reference = fragments_reference,
)]
unsafe extern "C" {
    pub fn fragments(
        m: u32,
        n: u32,
        k: u32,
        #[len(m * k)] a: &[T],
        #[len(n * k)] b: &[T],
        #[len(m * n)] c: &mut [f32],
    );
}

fn fragments_reference<T: Element>(m: u32, n: u32, k: u32, a: &[T], b: &[T], c: &mut [f64]) {
    let (n, k) = (n as usize, k as usize);
    for row in 0..m as usize {
        for col in 0..n {
            let product = |i: usize| a[row * k + i].to_f64() * b[col * k + i].to_f64();
            c[row * n + col] = 2.0 * (0..k).map(product).sum::<f64>();
        }
    }
}

#[tuned_kernel(
    source = "../../fixtures/prelude/lanes.cu",
    params(THREADS in [96]),
    baseline(THREADS = 96),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 960)),
    verify((n = 101), (n = 1)),
    tolerance(relative = 0),
    reference = lanes_reference,
)]
unsafe extern "C" {
    pub fn lanes(
        n: u32,
        #[len(n)]
        #[fill(below(100))]
        x: &[u32],
        #[len(5 * n)] wide: &mut [u64],
        #[len(n)] doubles: &mut [f64],
        #[len(2 * n)] votes: &mut [u32],
        #[len(6 * n)] whole: &mut [u32],
        #[len(4 * n)] part: &mut [u32],
    );
}

#[allow(clippy::too_many_arguments)] // as the kernel
fn lanes_reference(
    n: u32,
    x: &[u32],
    wide: &mut [u64],
    doubles: &mut [f64],
    votes: &mut [u32],
    whole: &mut [u32],
    part: &mut [u32],
) {
    const THREADS: usize = 96;
    /// The mask of the lanes that take part in a partial vote.
    const PART: u32 = 0x7777_7777;
    let n = n as usize;
    let x = |i: usize| x.get(i).copied().unwrap_or(0);
    let value = |i: usize| u64::from(x(i) + 1) << 32 | u64::from(x(i) * 3 + i as u32 % 32);
    for i in 0..n {
        let (warp, lane) = (i / 32 * 32, i % 32);
        let block = || (i / THREADS * THREADS..).take(THREADS).map(x);
        let of_mask = |mask: u32| (0..32).filter(move |lane| mask >> lane & 1 != 0);
        let lanes = |mask: u32| of_mask(mask).map(|lane| x(warp + lane));
        let ballot = |mask: u32, is: &dyn Fn(u32) -> bool| -> u32 {
            let those = of_mask(mask).filter(|lane| is(x(warp + lane)));
            those.map(|lane| 1 << lane).sum()
        };
        let from = [
            (lane * 7 + 3) % 32,
            if lane % 16 < 3 { lane } else { lane - 3 },
            if lane % 8 + 5 > 7 { lane } else { lane + 5 },
            lane ^ 9,
            if lane ^ 9 > lane | 7 { lane } else { lane ^ 9 },
        ];
        for (number, from) in from.into_iter().enumerate() {
            wide[number * n + i] = value(warp + from);
        }
        let other = lane ^ 17;
        doubles[i] = f64::from(x(warp + other)) * 1_048_576.5 + other as f64;
        votes[i] = ballot(!0, &|x| x.is_multiple_of(3));
        votes[n + i] = u32::from(lanes(!0).any(|x| x == 7))
            + 2 * u32::from(lanes(!0).all(|x| x < 98))
            + 4 * u32::from(block().any(|x| x == 98))
            + 8 * u32::from(block().all(|x| x < 97))
            + 16 * block().map(|x| x % 2).sum::<u32>()
            + 65536 * (3 + 12 * u32::from(lanes(!0).all(|other| other == x(i))));
        let fold = |combine: fn(u32, u32) -> u32| lanes(!0).reduce(combine).unwrap_or(0);
        let results = [
            ballot(!0, &|other| other % 5 == x(i) % 5),
            fold(|a, b| a + b),
            fold(u32::min).wrapping_sub(50),
            fold(u32::max),
            lanes(!0).fold(!0, |a, b| a & (b | 64)) ^ lanes(!0).fold(0, |a, b| a | (b * 256)),
            fold(|a, b| a ^ b),
        ];
        for (number, result) in results.into_iter().enumerate() {
            whole[number * n + i] = result;
        }
        let results = [
            ballot(PART, &|other| other % 3 == x(i) % 3),
            lanes(PART).sum(),
            lanes(PART).max().unwrap_or(0).wrapping_sub(200),
            ballot(PART, &|x| x.is_multiple_of(3)),
        ];
        let takes_part = PART >> lane & 1;
        for (number, result) in results.into_iter().enumerate() {
            part[number * n + i] = result * takes_part;
        }
    }
}

#[tuned_kernel(
    source = "../../fixtures/prelude/ptx.cu",
    params(THREADS in [64]),
    baseline(THREADS = 64),
    only(cuda),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 1000)),
)]
unsafe extern "C" {
    pub fn ptx(n: u32, #[len(n)] lanes: &mut [i32]);
}

#[test]
fn a_kernel_for_cuda_alone_is_counted_as_not_run_on_the_cpu() {
    if !have(
        "a_kernel_for_cuda_alone_is_counted_as_not_run_on_the_cpu",
        &[Need::HostCompiler],
    ) {
        return;
    }
    let device = kiln::smoke::open("cpu").unwrap();
    let options = kiln::smoke::SmokeOptions::default();
    let report = kiln::smoke::run(&ptx::KERNEL, &device, &options, |choice, problem| {
        panic!("{choice} is launched for {problem}")
    });
    assert_eq!(report.counts(), (0, 0, 1));
    let text = report.to_string();
    assert!(
        text.contains("not run: its spec says `only(cuda)`, but this is a cpu device"),
        "{text}"
    );
    assert!(
        text.ends_with("0 launched as intended, 0 failed, 1 not run"),
        "{text}"
    );
}
