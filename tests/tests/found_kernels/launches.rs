//! Features of launches: problem sizes that are not arguments of the kernel, arguments that follow from the config, and
//! outputs whose length follows from the config.
#![allow(deprecated, reason = "none is baked")]

use std::collections::BTreeSet;
use std::path::Path;

use kiln::smoke::{self, CheckOutcome, SmokeOptions};
use kiln::spec::parse::discover::{ModuleLayout, discover};
use kiln::{Buffer, Choice, Element, LaunchCause, Stream, tuned_kernel};
use kiln_tests::capability::{Need, have};
use kiln_tests::command::{expect_code, stdout};
use kiln_tests::throwaway::Throwaway;

fn scaled_heads(b: u32, nh: u32, n: i32, d: i32, x: &[f32], scales: &[f32], y: &mut [f64]) {
    let head = usize::try_from(n * d).unwrap();
    for (i, (x, y)) in x.iter().zip(y).enumerate() {
        let scale = scales[i / head % nh as usize];
        *y = f64::from(*x) * f64::from(scale);
    }
    assert_eq!(x.len(), head * (b * nh) as usize);
}

#[tuned_kernel(
    source = "../../fixtures/found/launches.cu",
    sizes(b: u32, nh: u32),
    params(THREADS in [32, 64]),
    baseline(THREADS = 32),
    grid(b, nh),
    block(THREADS),
    problems((b = 2, nh = 3, n = 10, d = 4)),
    reference = heads_in_order,
)]
unsafe extern "C" {
    pub fn scale_heads(
        #[len(b * nh * n * d)] x: &[f32],
        #[len(nh)] scales: &[f32],
        #[len(b * nh * n * d)] y: &mut [f32],
        n: i32,
        d: i32,
    );
}

fn heads_in_order(b: u32, nh: u32, x: &[f32], scales: &[f32], y: &mut [f64], n: i32, d: i32) {
    scaled_heads(b, nh, n, d, x, scales, y);
}

fn largest_of_rows(x: &[f32], largest: &mut [f64], n: i32) {
    for (row, largest) in x.chunks(usize::try_from(n).unwrap()).zip(largest) {
        *largest = row.iter().copied().fold(f32::MIN, f32::max).into();
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/launches.cu",
    params(BC in [4, 8, 32], THREADS in [32, 64]),
    baseline(BC = 32, THREADS = 32),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    problems((n = 100)),
    reference = largest_of_rows,
)]
unsafe extern "C" {
    pub fn tile_max(
        #[len(n * n)] x: &[f32],
        #[len(n)] largest: &mut [f32],
        n: i32,
        #[computed(n.div_ceil(BC))] tiles: i32,
        #[computed(BC)] tile: i32,
    );
}

/// Stores the whole sum in the first element. The test compares the sum of all elements, whatever their positions.
fn sum_of_all(x: &[f32], partial: &mut [f64], elements: &mut [u32], n: u32) {
    partial.fill(0.0);
    elements.fill(0);
    partial[0] = x.iter().map(|x| f64::from(*x)).sum();
    elements[0] = n;
}

#[tuned_kernel(
    source = "../../fixtures/found/launches.cu",
    params(BLOCK in [64, 128]),
    baseline(BLOCK = 64),
    grid(n.div_ceil(BLOCK)),
    block(BLOCK),
    shared(4 * BLOCK),
    problems((n = 1000)),
    tolerance(relative = 1e-5),
    reference = sum_of_all,
)]
unsafe extern "C" {
    pub fn block_sums(
        #[len(n)]
        #[fill(uniform(0, 1))]
        x: &[f32],
        #[len(n.div_ceil(BLOCK))]
        #[compare(sum)]
        partial: &mut [f32],
        #[len(n.div_ceil(BLOCK))]
        #[compare(sum)]
        elements: &mut [u32],
        n: u32,
    );
}

fn unit_rows<E: Element<Wide = f64>>(out: &mut [f64], x: &[E], n: i32, c: i32) {
    let c = usize::try_from(c).unwrap();
    assert_eq!(x.len(), usize::try_from(n).unwrap() * c);
    for (row, out) in x.chunks(c).zip(out.chunks_mut(c)) {
        let sum: f64 = row.iter().map(|x| x.to_f64().powi(2)).sum();
        for (x, out) in row.iter().zip(out) {
            *out = x.to_f64() / sum.sqrt();
        }
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/launches.cu",
    entry = "rows::normalise<T, WARPS>",
    types(T in [f32, f16]),
    params(WARPS in [1, 2, 4]),
    baseline(WARPS = 2),
    grid(n.div_ceil(WARPS)),
    block(32 * WARPS),
    problems((n = 10, c = 70)),
    tolerance(relative = 1e-3),
    reference = unit_rows,
)]
unsafe extern "C" {
    pub fn normalise(
        #[len(n * c)] out: &mut [T],
        #[len(n * c)]
        #[fill(uniform(1, 2))]
        x: &[T],
        #[computed(0)] weight: u64,
        n: i32,
        c: i32,
    );
}

fn sums_of_rows(_rows: u32, x: &[f32], sums: &mut [f64], largest: &mut [f64], cols: i32) {
    for ((row, sum), most) in x
        .chunks(usize::try_from(cols).unwrap())
        .zip(sums)
        .zip(largest)
    {
        *sum = row.iter().map(|x| f64::from(*x)).sum();
        *most = row.iter().copied().fold(row[0], f32::max).into();
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/wave_sums.hip",
    sizes(rows: u32),
    params(THREADS in [32, 64, 128]),
    baseline(THREADS = 64),
    grid(rows),
    block(THREADS),
    shared(4 * (THREADS >> 5)),
    problems((rows = 7, cols = 300)),
    reference = sums_of_rows,
)]
unsafe extern "C" {
    pub fn wave_sums(
        #[len(rows * cols)] x: &[f32],
        #[len(rows)] sums: &mut [f32],
        #[len(rows)] largest: &mut [f32],
        cols: i32,
    );
}

fn sums_of_overloads(n: i32, x: &[kiln::f16], y: &mut [i32], z: &mut [f64]) {
    for i in 0..n {
        let at = usize::try_from(i).unwrap();
        let halves = x[8 * at..8 * at + 2].iter().map(|x| x.to_f64());
        y[at] = 16_777_217 + 2 * i;
        z[at] = f64::from(2 * (i ^ 1)) + halves.sum::<f64>() + 2.0 + 2.0 + 42.0;
        // The lane three above, or the own one if there is none.
        z[at] += f64::from(if i % 32 < 29 { i % 32 + 3 } else { i % 32 }) + 0.5;
        if i % 64 == 32 {
            z[at] += 128.0;
        }
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/overloads.cu",
    params(THREADS in [64]),
    baseline(THREADS = 64),
    grid(n / THREADS),
    block(THREADS),
    problems((n = 320)),
    tolerance(relative = 1e-6),
    reference = sums_of_overloads,
)]
unsafe extern "C" {
    pub fn overloads(
        n: i32,
        #[len(8 * n)]
        #[align(8)]
        x: &[f16],
        #[len(n)] y: &mut [i32],
        #[len(n)] z: &mut [f32],
    );
}

fn vectors_reference(x: &[f32], k: &[i32], y: &mut [f64], m: &mut [i32], n: i32) {
    let quads = 4 * usize::try_from(n).unwrap();
    for at in 0..quads {
        let own = f64::from(x[at]);
        // The neighbour of the last vector is in the same block, but may be behind the end.
        let other = x.get(at ^ 4).map_or(0.0, |x| f64::from(*x));
        y[at] = -(own + other * 2.0 - 0.5 / (other + 4.0)) * own / 2.0;
        let (a, place) = (k[at], at % 4);
        let b = ((a << 2) ^ !a) % [97, 89, 83, 79][place];
        m[at] = b + 3 - (a & 7) + [7, -25536, 0, 0][place];
    }
}

#[tuned_kernel(
    source = "../../fixtures/found/vectors.hip",
    params(THREADS in [32, 64]),
    baseline(THREADS = 64),
    grid(n.div_ceil(THREADS)),
    block(THREADS),
    shared(16 * THREADS),
    problems((n = 333)),
    reference = vectors_reference,
)]
unsafe extern "C" {
    pub fn vectors(
        #[len(4 * n)]
        #[align(4)]
        x: &[f32],
        #[len(4 * n)]
        #[align(4)]
        #[fill(uniform(-1000, 1000))]
        k: &[i32],
        #[len(4 * n)]
        #[align(4)]
        y: &mut [f32],
        #[len(4 * n)]
        #[align(4)]
        m: &mut [i32],
        n: i32,
    );
}

pub const ALL: &[&kiln::Kernel] = &[
    &scale_heads::KERNEL,
    &tile_max::KERNEL,
    &block_sums::KERNEL,
    &normalise::KERNEL,
    &wave_sums::KERNEL,
    &overloads::KERNEL,
    &vectors::KERNEL,
];

fn stream(test: &str) -> Option<Stream> {
    have(test, &[Need::HostCompiler]).then(|| Stream::default_of(kiln::open("cpu").unwrap()))
}

#[test]
fn tune_reads_what_the_macro_reads() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/found_kernels/launches.rs");
    let text = std::fs::read_to_string(file).unwrap();
    let found = discover(&text, &ModuleLayout::Root, &BTreeSet::new()).unwrap();
    let found: Vec<String> = (found.kernels.into_iter())
        .map(|kernel| kernel.kernel.unwrap().spec.to_json())
        .collect();
    let declared: Vec<String> = ALL.iter().map(|kernel| kernel.spec().to_json()).collect();
    assert_eq!(found, declared);
}

#[test]
fn every_launch_is_the_intended_one() {
    let Some(stream) = stream("every_launch_is_the_intended_one") else {
        return;
    };
    for kernel in ALL {
        let options = SmokeOptions::default();
        let check = smoke::prove(kernel, stream.device(), Choice::Baseline, &options);
        assert!(
            matches!(check.outcome, CheckOutcome::Passed { .. }),
            "{check:?}"
        );
    }
}

#[test]
fn sizes_of_the_grid_alone_come_first_and_the_kernel_does_not_get_them() {
    let Some(stream) =
        stream("sizes_of_the_grid_alone_come_first_and_the_kernel_does_not_get_them")
    else {
        return;
    };
    let x = Buffer::from_slice(&stream, &[1.0_f32; 2 * 3 * 5]).unwrap();
    let scales = Buffer::from_slice(&stream, &[2.0_f32, 3.0, 4.0]).unwrap();
    let mut y = Buffer::<f32>::zeros(&stream, 30).unwrap();
    scale_heads(&stream, 2, 3, &x, &scales, &mut y, 5, 1).unwrap();
    let one = [[2.0_f32; 5], [3.0; 5], [4.0; 5]].concat();
    assert_eq!(y.to_vec(&stream).unwrap(), [one.clone(), one].concat());
}

#[test]
fn a_grid_without_blocks_is_no_error_and_launches_nothing() {
    let Some(stream) = stream("a_grid_without_blocks_is_no_error_and_launches_nothing") else {
        return;
    };
    let empty = Buffer::<f32>::zeros(&stream, 0).unwrap();
    let scales = Buffer::from_slice(&stream, &[1.0_f32; 3]).unwrap();
    let mut y = Buffer::<f32>::zeros(&stream, 0).unwrap();
    scale_heads(&stream, 0, 3, &empty, &scales, &mut y, 5, 1).unwrap();
    tile_max(&stream, &empty, &mut y, 0).unwrap();
    // A buffer of a different length is still an error.
    let error = tile_max(&stream, &scales, &mut y, 0).unwrap_err();
    assert!(
        matches!(error.cause(), LaunchCause::Length { .. }),
        "{error}"
    );
    // A negative extent is an error, too.
    let error = tile_max(&stream, &empty, &mut y, -1).unwrap_err();
    assert!(matches!(error.cause(), LaunchCause::Plan(_)), "{error}");
}

#[test]
fn an_argument_that_follows_from_the_config_is_worked_out_at_every_launch() {
    let Some(stream) =
        stream("an_argument_that_follows_from_the_config_is_worked_out_at_every_launch")
    else {
        return;
    };
    // 50 rows have two tiles of 32, and 100 rows have four. The third launch uses the remembered selection of the
    // first.
    for n in [50_i32, 100, 50] {
        let values: Vec<f32> = (0..n * n).map(|i| i as f32).collect();
        let x = Buffer::from_slice(&stream, &values).unwrap();
        let mut largest = Buffer::<f32>::zeros(&stream, n as usize).unwrap();
        tile_max(&stream, &x, &mut largest, n).unwrap();
        let want: Vec<f32> = (1..=n).map(|row| (row * n - 1) as f32).collect();
        assert_eq!(largest.to_vec(&stream).unwrap(), want);
    }
}

#[test]
fn the_length_of_what_blocks_leave_can_be_asked_for_and_is_checked() {
    let Some(stream) = stream("the_length_of_what_blocks_leave_can_be_asked_for_and_is_checked")
    else {
        return;
    };
    let x = Buffer::from_slice(&stream, &[1.0_f32; 300]).unwrap();
    let blocks = block_sums::partial_len(&stream, 300).unwrap();
    assert_eq!(blocks, 5);
    assert_eq!(block_sums::elements_len(&stream, 300).unwrap(), blocks);
    let mut partial = Buffer::<f32>::zeros(&stream, blocks).unwrap();
    let mut elements = Buffer::<u32>::zeros(&stream, blocks).unwrap();
    block_sums(&stream, &x, &mut partial, &mut elements, 300).unwrap();
    assert_eq!(
        partial.to_vec(&stream).unwrap(),
        [64.0, 64.0, 64.0, 64.0, 44.0]
    );
    assert_eq!(elements.to_vec(&stream).unwrap(), [64, 64, 64, 64, 44]);
    let mut longer = Buffer::<f32>::zeros(&stream, blocks + 1).unwrap();
    let error = block_sums(&stream, &x, &mut longer, &mut elements, 300).unwrap_err();
    assert!(
        matches!(error.cause(), LaunchCause::Length { expected: 5, .. }),
        "{error}"
    );
}

/// Compares configs whose outputs have different lengths with the baseline, by the sums of their outputs. A correct
/// config must pass, and a wrong config must fail.
#[test]
fn tune_compares_what_outputs_of_different_lengths_come_to() {
    if !have(
        "tune_compares_what_outputs_of_different_lengths_come_to",
        &[Need::HostCompiler],
    ) {
        return;
    }
    let source = include_str!("../../fixtures/found/launches.cu");
    let wrong = "partial[blockIdx.x] = blockDim.x == 256 ? 0.0f : staged[0];";
    let source = source.replace("partial[blockIdx.x] = staged[0];", wrong);
    let lib = r#"#[kiln::tuned_kernel(
    source = "launches.cu",
    params(BLOCK in [64, 128, 256]),
    baseline(BLOCK = 64),
    grid(n.div_ceil(BLOCK)),
    block(BLOCK),
    shared(4 * BLOCK),
    problems((n = 100000)),
)]
unsafe extern "C" {
    fn block_sums(
        #[len(n)] #[fill(uniform(0, 1))] x: &[f32],
        #[len(n.div_ceil(BLOCK))] #[compare(sum)] partial: &mut [f32],
        #[len(n.div_ceil(BLOCK))] #[compare(sum)] elements: &mut [u32],
        n: u32,
    );
}
"#;
    let crate_ = Throwaway::new("sums", &[("src/lib.rs", lib), ("src/launches.cu", &source)]);
    let mut run = crate_.tune("run --device cpu --trials 3 --budget 60s -v");
    let report = stdout(&expect_code(&mut run, 0));
    assert!(report.contains("incorrect"), "{report}");
    assert!(report.contains("sum(partial)"), "{report}");
    assert!(report.contains("measured 1"), "{report}");
}
