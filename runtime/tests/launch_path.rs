//! Measures the overhead of a baked launch over the bare call of the same entry. A baked launch must allocate nothing
//! and take little time.
//!
//! The device is the fake one, which does not compute here, so its launch does nothing. Only the launch function
//! itself is measured: the memoised selection, the checks and the arguments.
#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod kernels;
mod rows;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::Instant;

use kiln::backend::fake::{FakeDevice, Script};
use kiln::device::KernelArgs;
use kiln::spec::ProblemValue;
use kiln::{Buffer, Choice, Stream};

/// Counts the allocations of each thread.
struct Counting;

std::thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: forwards everything to the system's allocator; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(memory, layout, bytes) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> u64 {
    ALLOCATIONS.with(Cell::get)
}

/// A baked launch and the bare call of its entry, both prepared.
struct Pair {
    stream: Stream,
    input: Buffer<f32>,
    weight: Buffer<f32>,
    out: Buffer<f32>,
    function: kiln::device::Function,
    plan: kiln::spec::LaunchPlan,
    addresses: [u64; 3],
}

static SIZES: (u32, u32) = (64, 256);

impl Pair {
    fn new() -> Pair {
        let device = FakeDevice::new(Script {
            computes: false,
            ..Script::default()
        });
        let stream = Stream::default_of(device);
        let (r, c) = (SIZES.0 as usize, SIZES.1 as usize);
        let input = Buffer::zeros(&stream, r * c).unwrap();
        let weight = Buffer::zeros(&stream, c).unwrap();
        let out = Buffer::zeros(&stream, r * c).unwrap();
        let kernel = rows::kernel();
        let problem = kernel.problem_of([64, 256].map(ProblemValue::Size));
        let choice = kernel.selection(stream.device(), &problem).choice();
        assert_eq!(choice, Choice::Row(5), "the launch is one of a baked row");
        let prepared = kiln::prepare::get(kernel, stream.device(), choice, &problem).unwrap();
        let address = |buffer: &Buffer<f32>| kiln::DeviceSlice::raw(buffer).address;
        Pair {
            addresses: [address(&input), address(&weight), address(&out)],
            function: prepared.release.clone(),
            plan: kernel.rows()[5].plan,
            stream,
            input,
            weight,
            out,
        }
    }

    #[inline(never)]
    fn baked(&mut self) {
        let Pair {
            stream,
            input,
            weight,
            out,
            ..
        } = self;
        rows::blend_with_rows(stream, SIZES.0, SIZES.1, input, weight, out).unwrap();
    }

    #[inline(never)]
    fn bare(&self) {
        let pointers = [
            (&raw const SIZES.0).cast(),
            (&raw const SIZES.1).cast(),
            (&raw const self.addresses[0]).cast(),
            (&raw const self.addresses[1]).cast(),
            (&raw const self.addresses[2]).cast(),
        ];
        // SAFETY: two 32-bit sizes and three addresses, as the kernel declares; the device computes nothing.
        let args = unsafe { KernelArgs::new(&pointers) };
        let device = self.stream.device();
        device
            .launch(self.stream.handle(), &self.function, &self.plan, args)
            .unwrap();
    }
}

#[test]
fn a_baked_launch_allocates_nothing() {
    let mut pair = Pair::new();
    pair.baked();
    let before = allocations();
    for _ in 0..100_000 {
        pair.baked();
    }
    assert_eq!(allocations() - before, 0);
}

#[test]
fn alternating_between_four_problems_allocates_nothing() {
    let stream = Stream::default_of(FakeDevice::new(Script {
        computes: false,
        ..Script::default()
    }));
    let mut sets: Vec<_> = [(64u32, 256u32), (100, 70), (10, 10), (3, 5)]
        .into_iter()
        .map(|(r, c)| {
            let size = (r * c) as usize;
            (
                (r, c),
                Buffer::<f32>::zeros(&stream, size).unwrap(),
                Buffer::<f32>::zeros(&stream, c as usize).unwrap(),
                Buffer::<f32>::zeros(&stream, size).unwrap(),
            )
        })
        .collect();
    let mut launch_all = || {
        for ((r, c), input, weight, out) in &mut sets {
            rows::blend_with_rows(&stream, *r, *c, input, weight, out).unwrap();
        }
    };
    launch_all();
    let before = allocations();
    for _ in 0..1000 {
        launch_all();
    }
    assert_eq!(allocations() - before, 0);
}

/// The acceptance criterion is 100 ns on a current machine, measured in pairs, block by block. On a shared machine or
/// without optimisation, absolute times are meaningless, so the time is only printed.
#[test]
fn a_baked_launch_costs_at_most_100_ns_over_the_bare_call() {
    let mut pair = Pair::new();
    pair.baked();
    const BLOCK: u32 = 2_000;
    let timed = |f: &mut dyn FnMut()| {
        let start = Instant::now();
        for _ in 0..BLOCK {
            f();
        }
        start.elapsed().as_nanos() as f64 / f64::from(BLOCK)
    };
    let blocks = if cfg!(debug_assertions) { 20 } else { 500 };
    let mut overhead_ns: Vec<f64> = (0..blocks)
        .map(|_| timed(&mut || pair.baked()) - timed(&mut || pair.bare()))
        .collect();
    overhead_ns.sort_by(f64::total_cmp);
    let (median, low) = (
        overhead_ns[overhead_ns.len() / 2],
        overhead_ns[overhead_ns.len() / 10],
    );
    println!(
        "a baked launch costs {median:.1} ns over the bare call (lowest tenth {low:.1} ns), \
         {} launches of each",
        blocks * BLOCK
    );
    if !cfg!(debug_assertions) && std::env::var("KILN_BARS").is_ok_and(|bars| bars == "1") {
        assert!(median <= 100.0, "{median} ns");
    }
}

/// For counting instructions: run `valgrind --tool=callgrind --toggle-collect='*Pair*baked*'` on this test.
#[test]
#[ignore = "a subject for instruction counters, not a test of its own"]
fn one_hundred_thousand_launches_of_each_kind() {
    let mut pair = Pair::new();
    pair.baked();
    for _ in 0..100_000 {
        pair.baked();
        pair.bare();
    }
}
