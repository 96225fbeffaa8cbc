//! Tests that check builds check every access for races, bounds, and reads of uninitialised shared memory.

use std::sync::Arc;

use kiln::backend::cpu::CpuDevice;
use kiln::compiler::BuildKind;
use kiln::device::{Allocation, DeviceBackend as _, DeviceError, Schedule};
use kiln::spec::LaunchPlan;

use crate::on_cpu::{Arg, Loaded, STREAM, buffer, compile, contents, devices, plan, unit};

/// What the generator defines for a kernel whose spec allows equal stores.
const ALLOWED: &str = "#define KILN_CPU_EQUAL_STORES 1\n";

/// A kernel in one of the source files next to this file.
struct Case<'a> {
    name: &'a str,
    blocks: u32,
    threads: u32,
    shared_bytes: u32,
    told: &'a str,
    lines: Vec<usize>,
}

/// The kernels of a source file. The comment before each kernel describes the launch and the expected message.
fn cases(source: &str) -> Vec<Case<'_>> {
    let mut cases: Vec<Case<'_>> = Vec::new();
    for (number, line) in (1..).zip(source.lines()) {
        if let Some(comment) = line.strip_prefix("//: ") {
            let mut words = comment.splitn(4, ' ');
            let mut count = || words.next().unwrap().parse().unwrap();
            cases.push(Case {
                name: "",
                blocks: count(),
                threads: count(),
                shared_bytes: count(),
                told: words.next().unwrap_or_default(),
                lines: Vec::new(),
            });
        } else if let Some(kernel) = line.strip_prefix("__global__ void ") {
            cases.last_mut().unwrap().name = kernel.split('(').next().unwrap();
        } else if line.ends_with("//!") {
            cases.last_mut().unwrap().lines.push(number);
        }
    }
    cases
}

/// All kernels of a source file in one module, because compiling them together is much faster.
struct Built {
    device: Arc<CpuDevice>,
    module: Arc<dyn kiln::device::Module>,
    /// The buffers that have no content when a launch begins.
    outputs: &'static [&'static str],
}

impl Built {
    fn new(device: &Arc<CpuDevice>, source: &str) -> Built {
        Built::with_definition(device, "", source)
    }

    /// Compiles the kernels after a definition that the generator writes for their spec.
    fn with_definition(device: &Arc<CpuDevice>, definition: &str, source: &str) -> Built {
        let mut text = definition.to_owned();
        text += &unit(
            true,
            &format!(
                "#line 1 \"kiln generated\"\n#include \"kiln.cuh\"\n#line 1 \"kernel.cu\"\n{source}"
            ),
            "first",
        );
        let first = cases(source)[0].name;
        text = text.replace("KILN_CPU_ENTRY(entry, first)\n", "");
        for case in cases(source) {
            text += &format!("KILN_CPU_ENTRY({0}, {0})\n", case.name);
        }
        let artifact = compile(device, &text, BuildKind::Check)
            .unwrap_or_else(|error| panic!("{first}: {error}"));
        Built {
            device: device.clone(),
            module: device.load(&artifact).unwrap(),
            outputs: &[],
        }
    }

    /// Launches a kernel on buffers of 4096 elements.
    fn launch(&self, case: &Case<'_>, schedule: Schedule) -> Result<(), DeviceError> {
        let device = &self.device;
        let input: Vec<i32> = (0..4096).collect();
        // Each buffer is guarded, because an overrun of contiguous buffers could stay inside the next buffer.
        let memory = || device.alloc_guarded(4 * 4096, 4).unwrap();
        let (held, x, y) = (memory(), memory(), memory());
        held.write(STREAM, 0, bytemuck::cast_slice(&input)).unwrap();
        let loaded = Loaded {
            device: device.clone(),
            function: self.module.clone().function(case.name).unwrap(),
        };
        let plan = LaunchPlan {
            shared_bytes: case.shared_bytes,
            ..plan([case.blocks, 1, 1], [case.threads, 1, 1])
        };
        let args: [(_, &dyn Allocation); 3] = [("in", &*held), ("x", &*x), ("y", &*y)];
        loaded.launch_named(&plan, &args, self.outputs, schedule)
    }
}

/// Every case must be reported in forward order with its message and all its lines, and must be a fault in other
/// orders.
fn all_are_told(source: &str, outputs: &'static [&'static str], beginning: &[&str]) {
    for device in devices() {
        let built = Built {
            outputs,
            ..Built::new(&device, source)
        };
        for case in &cases(source) {
            let error = built.launch(case, Schedule::Forward).expect_err(case.name);
            let text = error.to_string();
            let begins = beginning.iter().any(|beginning| text.contains(beginning));
            let has_lines = case
                .lines
                .iter()
                .all(|line| text.contains(&format!("at kernel.cu:{line}")));
            assert!(
                begins && has_lines && text.contains(case.told),
                "{}, lines {:?}: {text}",
                case.name,
                case.lines
            );
            for schedule in [Schedule::Reversed, Schedule::Seeded(3)] {
                let launched = built.launch(case, schedule);
                assert!(launched.is_err(), "{} in {schedule}", case.name);
            }
        }
    }
}

#[test]
fn every_race_is_told_in_one_launch_with_both_lines_and_the_variable() {
    let source = include_str!("races.cu");
    assert!(cases(source).len() >= 30);
    all_are_told(
        source,
        &[],
        &["race: it ", "has not waited for its copy_async"],
    );
}

#[test]
fn stores_of_one_value_at_the_same_time_are_told_as_such_and_accepted_if_the_author_allows_them() {
    let (equal, _) = include_str!("equal.cu")
        .split_once("// Kernels that")
        .unwrap();
    assert!(cases(equal).len() >= 6);
    all_are_told(equal, &[], &["; both write the same value (0x"]);
    all_are_told(
        equal,
        &[],
        &["\nhelp: if that is meant, declare `equal_stores = allow`"],
    );
    for device in devices() {
        let built = Built::with_definition(&device, ALLOWED, equal);
        for case in &cases(equal) {
            for schedule in [Schedule::Forward, Schedule::Reversed, Schedule::Seeded(3)] {
                let launched = built.launch(case, schedule);
                launched.unwrap_or_else(|error| panic!("{} in {schedule}: {error}", case.name));
            }
        }
    }
}

#[test]
fn stores_of_other_values_at_the_same_time_are_told_although_the_author_allows_equal_ones() {
    let source = include_str!("equal.cu");
    let all = cases(source);
    let unequal = &all[6..];
    assert_eq!(unequal[0].name, "two_values");
    for device in devices() {
        let built = Built::with_definition(&device, ALLOWED, source);
        for case in unequal {
            let text = built
                .launch(case, Schedule::Forward)
                .expect_err(case.name)
                .to_string();
            let has_lines = case
                .lines
                .iter()
                .all(|line| text.contains(&format!("at kernel.cu:{line}")));
            assert!(
                text.contains("race: it ") && has_lines,
                "{}: {text}",
                case.name
            );
            assert!(!text.contains("the same value"), "{text}");
            for seed in 0..4 {
                for schedule in [Schedule::Reversed, Schedule::Seeded(seed)] {
                    let launched = built.launch(case, schedule);
                    assert!(launched.is_err(), "{} in {schedule}", case.name);
                }
            }
        }
    }
}

#[test]
fn every_access_out_of_bounds_is_told_with_variable_index_and_line() {
    let source = include_str!("bounds.cu");
    assert!(cases(source).len() >= 24);
    all_are_told(source, &[], &["out of bounds: it ", "declared const"]);
}

#[test]
fn every_read_of_an_output_before_it_is_written_is_told_with_element_and_line() {
    let source = include_str!("outputs.cu");
    let (wrong, right) = source.split_once("// Right kernels.").unwrap();
    assert!(cases(wrong).len() >= 10);
    all_are_told(wrong, &["x", "y"], &["it reads ", "race: it "]);
    assert!(cases(right).len() >= 5);
    for device in devices() {
        let built = Built {
            outputs: &["x", "y"],
            ..Built::new(&device, right)
        };
        for case in &cases(right) {
            for schedule in [Schedule::Forward, Schedule::Reversed, Schedule::Seeded(3)] {
                let launched = built.launch(case, schedule);
                launched.unwrap_or_else(|error| panic!("{} in {schedule}: {error}", case.name));
            }
        }
        // The same reads are right if the memory has content.
        let built = Built::new(&device, wrong);
        for case in &cases(wrong) {
            let launched = built.launch(case, Schedule::Forward);
            launched.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        }
    }
}

#[test]
fn kernels_without_a_race_run_without_a_fault_in_every_order() {
    let source = include_str!("right.cu");
    let seeds = if std::env::var_os("KILN_BARS").is_some() {
        64
    } else {
        2
    };
    let schedules = [Schedule::Forward, Schedule::Reversed];
    let schedules = schedules
        .into_iter()
        .chain((0..seeds).map(Schedule::Seeded));
    for device in devices() {
        let built = Built::new(&device, source);
        for schedule in schedules.clone() {
            for case in &cases(source) {
                let launched = built.launch(case, schedule);
                launched.unwrap_or_else(|error| panic!("{} in {schedule}: {error}", case.name));
            }
        }
    }
}

#[test]
fn a_read_of_shared_memory_that_nobody_wrote_is_told() {
    let source = "
        __global__ void stale(int* out) {
            __shared__ int held[64];
            if (blockIdx.x == 0 || threadIdx.x < 63) held[threadIdx.x] = 1;
            __syncthreads();
            out[blockIdx.x * 64 + threadIdx.x] = held[63 - threadIdx.x];
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "stale"), BuildKind::Check);
        let out = buffer(&device, &[0_i32; 128]);
        let error = kernel
            .launch(&plan([2, 1, 1], [64, 1, 1]), &[Arg::Buffer(&*out)])
            .unwrap_err();
        let expected = "block (1,0,0) thread (0,0,0): it reads shared variable `held`[63] at kernel.cu:6, \
                        which no thread of the block has written";
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_read_of_what_nobody_wrote_gives_another_value_in_each_order_if_the_author_allows_it() {
    let loaded = |device: &Arc<CpuDevice>, rest: &str| {
        let source = format!(
            "
        __global__ void stale(int* out, int* y) {{
            __shared__ int held[64];
            if (threadIdx.x < 63) held[threadIdx.x] = 1;
            __syncthreads();
            out[threadIdx.x] = held[threadIdx.x];
            {rest}
        }}"
        );
        let unit = unit(true, &source, "stale");
        let unit = format!("#define KILN_CPU_UNWRITTEN_READS 1\n{unit}");
        Loaded::new(device, &unit, BuildKind::Check)
    };
    let orders = [
        Schedule::Forward,
        Schedule::Reversed,
        Schedule::Seeded(2),
        Schedule::Seeded(3),
    ];
    let plan = plan([1, 1, 1], [64, 1, 1]);
    for device in devices() {
        let (out, y) = (buffer(&device, &[0_i32; 64]), buffer(&device, &[0_i32; 64]));
        let args: [(_, &dyn Allocation); 2] = [("out", &*out), ("y", &*y)];
        let kernel = loaded(&device, "");
        let mut values: Vec<i32> = Vec::new();
        for schedule in orders {
            kernel
                .launch_named(&plan, &args, &["out", "y"], schedule)
                .unwrap();
            let written = contents::<i32>(&*out);
            assert_eq!(written[..63], [1; 63]);
            values.push(written[63]);
            let told = "undefined value: thread (63,0,0) reads shared variable `held`[63] at kernel.cu:6, which no \
                        thread of the block has written";
            assert_eq!(device.take_remarks(), [told]);
        }
        values.sort_unstable();
        values.dedup();
        assert_eq!(values.len(), 4, "{values:x?}");
        // The item allows nothing else.
        let kernel = loaded(&device, "out[threadIdx.x] = y[threadIdx.x];");
        let error = kernel.launch_named(&plan, &args, &["out", "y"], Schedule::Forward);
        let text = error.unwrap_err().to_string();
        assert!(text.contains("it reads `y`[0] at kernel.cu:7"), "{text}");
    }
}

#[test]
fn a_read_of_what_nobody_wrote_is_told_at_the_next_barrier_before_what_it_leads_to() {
    let source = "
        __global__ void stale(int* out) {
            __shared__ int held[64];
            if (blockIdx.x == 0 || threadIdx.x < 63) held[threadIdx.x] = 1;
            __syncthreads();
            int read = held[63 - threadIdx.x];
            __syncthreads();
            out[(blockIdx.x * 64 + threadIdx.x) << (blockIdx.x * 20)] = read;
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "stale"), BuildKind::Check);
        let out = buffer(&device, &[0_i32; 128]);
        let error = kernel
            .launch(&plan([2, 1, 1], [64, 1, 1]), &[Arg::Buffer(&*out)])
            .unwrap_err();
        let expected = "block (1,0,0) thread (0,0,0): it reads shared variable `held`[63] at kernel.cu:6, \
                        which no thread of the block has written";
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_read_of_what_an_earlier_launch_left_in_a_variable_is_told() {
    let kernels = [
        (
            "memo",
            "if (!done) kept[i] = in[i]; out[i] = kept[i]; __syncthreads(); if (i == 63) done = 1;",
            "`done` at kernel.cu:5",
        ),
        (
            "count",
            "out[i] = atomicAdd(&calls[1], 1) < 64 ? in[i] : 0;",
            "`calls`[1] at kernel.cu:5",
        ),
        (
            "a_part",
            "if (i < 32) kept[i] = in[i]; out[i] = kept[i] == 1; kept[i] = 2;",
            "`kept`[32] at kernel.cu:5",
        ),
    ];
    for device in devices() {
        for (name, body, place) in kernels {
            let source = format!(
                "
        __device__ int done, kept[64], calls[2] = {{3, 5}};
        __global__ void {name}(const int* in, int* out) {{
            int i = threadIdx.x;
            {body}
        }}"
            );
            let kernel = Loaded::new(&device, &unit(true, &source, name), BuildKind::Check);
            let (input, out) = (buffer(&device, &[1_i32; 64]), buffer(&device, &[0_i32; 64]));
            let args = [Arg::Buffer(&*input), Arg::Buffer(&*out)];
            let plan = plan([1, 1, 1], [64, 1, 1]);
            kernel.launch(&plan, &args).unwrap();
            let error = kernel.launch(&plan, &args).unwrap_err().to_string();
            let told =
                format!("it reads variable {place}, which holds what an earlier launch left there");
            assert!(error.contains(&told), "{name}: {error}");
        }
    }
}

#[test]
fn an_access_that_is_less_aligned_than_its_type_is_told() {
    let source = "
        __global__ void pairs(const int* in, int* out) {
            out[threadIdx.x] = (int)*(const long long*)(in + 1 + 2 * threadIdx.x);
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "pairs"), BuildKind::Check);
        let (input, out) = (buffer(&device, &[1_i32; 64]), buffer(&device, &[0_i32; 8]));
        let plan = plan([1, 1, 1], [8, 1, 1]);
        let args = [Arg::Buffer(&*input), Arg::Buffer(&*out)];
        let error = kernel.launch(&plan, &args).unwrap_err().to_string();
        let told = "block (0,0,0) thread (0,0,0): misaligned: it reads 8 bytes at once at kernel.cu:3, from argument 1[1] \
                    on, but the type needs more alignment than the address has";
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn dynamic_shared_memory_is_watched_wherever_other_memory_comes_to_lie() {
    let source = "
        __global__ void unordered(int* out) {
            int* held = (int*)kiln_cpu_dynamic_shared();
            held[threadIdx.x] = 1;
            out[threadIdx.x] = held[63 - threadIdx.x];
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "unordered"), BuildKind::Check);
        let out = buffer(&device, &[0_i32; 64]);
        let plan = LaunchPlan {
            shared_bytes: 256,
            ..plan([1, 1, 1], [64, 1, 1])
        };
        // New memory is mostly below the kernel's variables, which moves them in the table of all memory.
        let mut more = Vec::new();
        for _ in 0..6 {
            let error = kernel.launch(&plan, &[Arg::Buffer(&*out)]).unwrap_err();
            let race = "race: it writes dynamic shared memory[32] at kernel.cu:4";
            assert!(error.to_string().contains(race), "{error}");
            more.push(device.alloc_guarded(1 << 20, 4).unwrap());
        }
    }
}

#[test]
fn kernels_without_barriers_are_watched_too() {
    let source = "
        __global__ void loop(const int* in, int* out) {
            out[(blockIdx.x * blockDim.x + threadIdx.x) / 2] = in[threadIdx.x];
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(false, source, "loop"), BuildKind::Check);
        let (input, out) = (buffer(&device, &[1_i32; 32]), buffer(&device, &[0_i32; 64]));
        let launch = |threads| {
            let plan = plan([2, 1, 1], [threads, 1, 1]);
            let memory: [(&str, &dyn kiln::device::Allocation); 2] =
                [("in", &*input), ("out", &*out)];
            let error = kernel.launch_named(&plan, &memory, &[], Schedule::Forward);
            error.unwrap_err().to_string()
        };
        let race = launch(32);
        let expected = "block (0,0,0) thread (1,0,0): race: it writes `out`[0] at kernel.cu:3, \
                        which thread (0,0,0) of the block writes at kernel.cu:3";
        assert!(race.contains(expected), "{race}");
    }
}
