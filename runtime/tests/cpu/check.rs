//! Tests of check builds (divergent barriers, races, bounds, uninitialised reads) and of the sanitizers.

mod watch;

use std::process::{Command, Output};
use std::sync::Arc;

use crate::on_cpu::{self, Arg, Loaded, STREAM, buffer, contents, devices, plan, unit};
use kiln::compiler::{BuildKind, CompileRequest};
use kiln::device::{DeviceBackend as _, DeviceError, Schedule};
use kiln::recipe::Recipe;
use kiln::spec::prelude::CPU_PRELUDE;

/// The orders of threads in which a check build is launched.
const ORDERS: [Schedule; 4] = [
    Schedule::Forward,
    Schedule::Reversed,
    Schedule::Seeded(7),
    Schedule::Seeded(8),
];

/// The text of the fault that one launch of a check build reports. The kernel has one output of 64 words.
fn fault(source: &str, entry: &str) -> Vec<String> {
    let told = |device| {
        let kernel = Loaded::new(device, &unit(true, source, entry), BuildKind::Check);
        let out = buffer(device, &[0_i32; 64]);
        let error = kernel
            .launch(&plan([2, 1, 1], [64, 1, 1]), &[Arg::Buffer(&*out)])
            .unwrap_err();
        assert!(matches!(error, DeviceError::KernelFault { .. }), "{error}");
        error.to_string()
    };
    devices().iter().map(told).collect()
}

#[test]
fn two_barriers_in_divergent_flow_are_told_with_both_places() {
    let source = "
        __global__ void split(int* out) {
            if (threadIdx.x < 40) {
                __syncthreads();
            } else {
                __syncthreads();
            }
            out[threadIdx.x] = 1;
        }";
    for text in fault(source, "split") {
        let expected = "block (0,0,0) thread (40,0,0): divergent barrier: it waits at __syncthreads() at kernel.cu:6, \
                        but thread (0,0,0) waits at __syncthreads() at kernel.cu:4";
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn two_barriers_on_one_line_are_told_apart() {
    let source = "__global__ void line(int* out) { if (threadIdx.x < 40) { __syncthreads(); } else { __syncthreads(); } }";
    for text in fault(source, "line") {
        assert!(text.contains("divergent barrier"), "{text}");
    }
}

#[test]
fn a_barrier_counts_returned_threads_as_arrived_and_the_author_gets_a_remark() {
    // What a thread writes before it returns is ordered by the barrier too.
    let source = "
        __global__ void some(int* out) {
            __shared__ int held[64];
            held[threadIdx.x] = 1;
            if (threadIdx.x >= 50) return;
            int votes = __syncthreads_count(threadIdx.x % 2);
            int all = __syncthreads_and(threadIdx.x < 50);
            out[threadIdx.x] = votes + 100 * all + 1000 * held[63 - threadIdx.x];
        }";
    let remark = "early return: __syncthreads_count() at kernel.cu:6 does not wait for the 14 of 64 threads that have \
                  returned; NVIDIA GPUs before Volta wait for them";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "some"), BuildKind::Check);
        for schedule in ORDERS {
            let out = buffer(&device, &[0_i32; 64]);
            let (plan, args) = (plan([1, 1, 1], [64, 1, 1]), [Arg::Buffer(&*out)]);
            kernel.launch_scheduled(&plan, &args, schedule).unwrap();
            assert_eq!(contents::<i32>(&*out)[..50], [1125; 50], "{schedule}");
            assert_eq!(device.take_remarks(), [remark], "{schedule}");
            assert!(device.take_remarks().is_empty());
        }
    }
}

#[test]
fn threads_that_wait_at_another_barrier_are_told_although_others_have_returned() {
    let source = "
        __global__ void some(int* out) {
            if (threadIdx.x >= 50) return;
            if (threadIdx.x < 40) __syncthreads();
            __syncthreads();
        }";
    for text in fault(source, "some") {
        assert!(
            text.contains("divergent barrier: it waits at __syncthreads() at kernel.cu:5, but"),
            "{text}"
        );
    }
}

#[test]
fn a_shuffle_from_a_lane_that_takes_no_part_gives_another_value_in_each_order() {
    // The sum of eight lanes is right, although lanes 1 to 7 add values of lanes that take no part: lanes that take
    // another branch, or that have returned.
    let branch = "if (threadIdx.x < 8) {
                int sum = (int)threadIdx.x;
                for (int by = 4; by > 0; by /= 2) sum += __shfl_down_sync(0xff, sum, by);
                out[threadIdx.x] = sum;
            }";
    let returned = "if (threadIdx.x >= 8) return;
            int sum = (int)threadIdx.x;
            for (int by = 4; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffff, sum, by);
            out[threadIdx.x] = sum;";
    for body in [branch, returned] {
        let source = format!("\n__global__ void tail(int* out) {{\n            {body}\n}}");
        for device in devices() {
            let run = |kind, schedule| {
                let kernel = Loaded::new(&device, &unit(true, &source, "tail"), kind);
                let out = buffer(&device, &[0_i32; 64]);
                let plan = plan([1, 1, 1], [32, 1, 1]);
                let args = [Arg::Buffer(&*out)];
                kernel.launch_scheduled(&plan, &args, schedule).unwrap();
                contents::<i32>(&*out)
            };
            let released = run(BuildKind::Release, Schedule::Forward);
            let mut undefined = Vec::new();
            for schedule in ORDERS {
                let checked = run(BuildKind::Check, schedule);
                assert_eq!(checked[0], 28, "{schedule}");
                let remarks = device.take_remarks().join("; ");
                let told = ", which takes no part, by __shfl_down_sync() at kernel.cu:5";
                assert!(
                    remarks.starts_with("undefined value: thread (") && remarks.ends_with(told),
                    "{remarks}"
                );
                undefined.push(checked[7]);
            }
            assert_eq!(released[0], 28);
            // The reversed order has the value of a release build.
            assert!(undefined.contains(&released[7]), "{undefined:?}");
            undefined.sort_unstable();
            undefined.dedup();
            assert_eq!(undefined.len(), ORDERS.len());
        }
    }
}

#[test]
fn padding_of_a_struct_in_shared_memory_may_be_copied() {
    let source = |written: &str| {
        format!(
            "struct best {{ int place; short value; }};
            __global__ void padded(int* out) {{
                __shared__ best all[64];
                best own;
                own.place = threadIdx.x;
                own.value = 1;
                {written}
                __syncthreads();
                best next = all[63 - threadIdx.x];
                all[threadIdx.x].place = 0;
                out[threadIdx.x] = next.place + next.value;
            }}"
        )
    };
    let whole = source("all[threadIdx.x].place = own.place; all[threadIdx.x].value = own.value;");
    let whole = whole.replace(
        "best next = all[63 - threadIdx.x];",
        "best next; __builtin_memcpy(&next, &all[63 - threadIdx.x], 8); __syncthreads();",
    );
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, &whole, "padded"), BuildKind::Check);
        let out = buffer(&device, &[0_i32; 64]);
        let plan = plan([1, 1, 1], [64, 1, 1]);
        kernel.launch(&plan, &[Arg::Buffer(&*out)]).unwrap();
        assert_eq!(contents::<i32>(&*out)[..3], [64, 63, 62]);
    }
    // If nothing in a word was written, its read is a fault.
    let part = whole.replace("all[threadIdx.x].value = own.value;", "");
    for text in fault(&part, "padded") {
        assert!(
            text.contains("which no thread of the block has written"),
            "{text}"
        );
    }
}

/// The unit of a source with overloads of shuffles, for which the generator asks for functions instead of macros.
fn unit_of_overloads(source: String) -> String {
    let unit = unit(true, &source, "overloads");
    format!("#define KILN_CPU_SHUFFLE_FUNCTIONS 1\n{unit}")
}

#[test]
fn overloads_of_shuffles_work_and_a_fault_in_one_names_its_place() {
    let source = |lanes: u32| {
        format!(
            "struct pair {{ int a, b; }};
            __device__ pair __shfl_xor_sync(unsigned mask, pair v, int flip) {{
                return pair{{__shfl_xor_sync(mask, v.a, flip), __shfl_xor_sync(mask, v.b, flip, 16)}};
            }}
            __global__ void overloads(int* out) {{
                int own = threadIdx.x;
                if (blockIdx.x == 0 && own < {lanes}) {{
                    pair other = __shfl_xor_sync(~0u, pair{{own, 2 * own}}, 1);
                    out[own] = other.a + 100 * other.b + 10000 * __shfl_sync(0xffffffffu, own, 5);
                }}
                __syncthreads();
            }}"
        )
    };
    for device in devices() {
        for kind in [BuildKind::Release, BuildKind::Check] {
            let kernel = Loaded::new(&device, &unit_of_overloads(source(32)), kind);
            let out = buffer(&device, &[0_i32; 64]);
            let plan = plan([2, 1, 1], [64, 1, 1]);
            kernel.launch(&plan, &[Arg::Buffer(&*out)]).unwrap();
            let want: Vec<i32> = (0..32).map(|i| 201 * (i ^ 1) + 50000).collect();
            assert_eq!(contents::<i32>(&*out)[..32], want);
        }
        let kernel = Loaded::new(&device, &unit_of_overloads(source(16)), BuildKind::Check);
        let out = buffer(&device, &[0_i32; 64]);
        let plan = plan([2, 1, 1], [64, 1, 1]);
        let error = kernel.launch(&plan, &[Arg::Buffer(&*out)]).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("operation at kernel.cu:3"), "{text}");
    }
}

#[test]
fn a_release_build_runs_in_forward_order_only() {
    for device in devices() {
        let unit = unit(false, "__global__ void k(int* out) {}", "k");
        let kernel = Loaded::new(&device, &unit, BuildKind::Release);
        let out = buffer(&device, &[0_i32; 64]);
        let (plan, args) = (plan([1; 3], [64, 1, 1]), [Arg::Buffer(&*out)]);
        kernel
            .launch_scheduled(&plan, &args, Schedule::Forward)
            .unwrap();
        let error = kernel
            .launch_scheduled(&plan, &args, Schedule::Reversed)
            .unwrap_err();
        assert!(error.to_string().contains("only check builds"), "{error}");
    }
}

/// The variable that is set in a process that was started with the sanitizers. It contains the name of the faulty
/// kernel to run.
const CHILD: &str = "KILN_TEST_SANITIZED";

/// Kernels with a fault that sanitizers report. Overruns of static shared memory are missing, because clang does not
/// report overruns of plain `static` variables. The check build reports them (`watch.rs`).
const FAULTY: [(&str, &str, &str); 5] = [
    (
        "overrun",
        "__global__ void k(float* p) { p[threadIdx.x + 1] = 1; }",
        "heap-buffer-overflow|SEGV",
    ),
    (
        "dynamic",
        "__global__ void k(float* p) { float* s = (float*)kiln_cpu_dynamic_shared(); __syncthreads();
                                       s[threadIdx.x + 1] = 1; p[0] = s[0]; }",
        "use-after-poison",
    ),
    (
        "misaligned",
        // The kernel reads a member, because clang does not check the alignment of a whole struct that it copies.
        "__global__ void k(float* p) { p[0] = ((float4*)(p + 1))->x; }",
        "misaligned address",
    ),
    (
        "local",
        "__global__ void k(float* p) { volatile float a[4]; __syncthreads(); a[threadIdx.x % 5] = 1; p[0] = a[0]; }",
        "stack-buffer-overflow|out of bounds",
    ),
    (
        "right",
        "__global__ void k(float* p) { __shared__ float s[64]; s[threadIdx.x] = threadIdx.x; __syncthreads();
                                       float v = s[63 - threadIdx.x] + __shfl_xor_sync(~0u, 1.0f, 1);
                                       p[threadIdx.x] = v; }",
        "",
    ),
];

/// The work of the child process. Runs one faulty kernel on the first device. The end of its buffer is next to a
/// guard page.
fn run_faulty(name: &str) {
    let (_, source, _) = FAULTY.iter().find(|(known, _, _)| *known == name).unwrap();
    let device = devices().remove(0);
    let fibers = source.contains("__syncthreads");
    let kernel = Loaded::new(&device, &unit(fibers, source, "k"), BuildKind::Sanitize);
    let out = device.alloc_guarded(256, 4).unwrap();
    let plan = kiln::spec::LaunchPlan {
        shared_bytes: 256,
        ..plan([2, 1, 1], [64, 1, 1])
    };
    for schedule in [Schedule::Forward, Schedule::Reversed] {
        let args = [Arg::Buffer(&*out)];
        kernel.launch_scheduled(&plan, &args, schedule).unwrap();
    }
    let mut result = [0; 256];
    out.read(STREAM, 0, &mut result).unwrap();
    println!(
        "ended with {:?}",
        bytemuck::cast_slice::<u8, f32>(&result)[63]
    );
}

#[test]
fn the_sanitizers_find_what_a_kernel_does_outside_its_memory() {
    if let Ok(name) = std::env::var(CHILD) {
        return run_faulty(&name);
    }
    let Some(device) = devices().into_iter().next() else {
        return;
    };
    let environment = match device.compiler().unwrap().sanitizer_environment() {
        Ok(environment) => environment,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "{error}");
            return eprintln!("skipped: {error}");
        }
    };
    for (name, _, expected) in FAULTY {
        let Output {
            status,
            stdout,
            stderr,
        } = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "check::the_sanitizers_find_what_a_kernel_does_outside_its_memory",
                "--nocapture",
            ])
            .env(CHILD, name)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .output()
            .unwrap();
        let told = format!(
            "{}{}",
            String::from_utf8_lossy(&stdout),
            String::from_utf8_lossy(&stderr)
        );
        if expected.is_empty() {
            assert!(
                status.success() && told.contains("ended with 1.0"),
                "{name}: {told}"
            );
            continue;
        }
        assert!(
            status.code() == Some(86) && !told.contains("ended with"),
            "{name}: {told}"
        );
        assert!(
            expected.split('|').any(|text| told.contains(text)),
            "{name}: {told}"
        );
    }
}

#[test]
fn a_sanitized_build_is_refused_by_a_process_without_the_sanitizers() {
    for device in devices() {
        if device.compiler().unwrap().sanitizer_environment().is_err() {
            return eprintln!("skipped: no sanitizers here");
        }
        let artifact = on_cpu::compile(
            &device,
            &unit(false, "__global__ void k() {}", "k"),
            BuildKind::Sanitize,
        )
        .unwrap();
        let error = device.load(&artifact).unwrap_err();
        assert!(matches!(error, DeviceError::Unsupported { .. }), "{error}");
    }
}

#[test]
fn every_schedule_runs_each_thread_of_each_block_once_and_in_its_own_order() {
    let source = "
        __global__ void ticket(int* next, int* out) {
            KEEP
            const int block = blockIdx.x + gridDim.x * blockIdx.y;
            out[block * 35 + threadIdx.x + 7 * threadIdx.y] = atomicAdd(next, 1);
        }";
    let schedules = [
        Schedule::Forward,
        Schedule::Reversed,
        Schedule::Seeded(1),
        Schedule::Seeded(1),
        Schedule::Seeded(2),
    ];
    for device in devices() {
        for fibers in [false, true] {
            let source = source.replace("KEEP", if fibers { "__syncthreads();" } else { "" });
            let unit = unit(fibers, &source, "ticket");
            let kernel = Loaded::new(&device, &unit, BuildKind::Check);
            let orders = schedules.map(|schedule| {
                let (next, out) = (buffer(&device, &[0]), buffer(&device, &[0_i32; 6 * 35]));
                let args = [Arg::Buffer(&*next), Arg::Buffer(&*out)];
                let plan = plan([2, 3, 1], [7, 5, 1]);
                kernel.launch_scheduled(&plan, &args, schedule).unwrap();
                contents::<i32>(&*out)
            });
            for order in &orders {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert!(sorted.iter().copied().eq(0..6 * 35), "{order:?}");
            }
            assert!(orders[0].is_sorted());
            assert!(orders[1].iter().rev().is_sorted());
            assert_eq!(orders[2], orders[3]);
            assert_ne!(orders[2], orders[4]);
            assert!(!orders[2].is_sorted());
        }
    }
}

#[test]
fn a_check_build_of_two_parts_finds_what_one_of_a_single_unit_finds() {
    let race = |keep: &str| {
        format!(
            "__global__ void turn(float* x) {{\n\
                 int at = threadIdx.x ^ 1;\n\
                 float old = x[at];\n{keep}\n\
                 x[threadIdx.x] = old + 1.0f;\n\
             }}"
        )
    };
    // Translation units with headers from before the common part are compiled as a whole.
    let headers = CPU_PRELUDE.iter();
    let headers = headers.map(|(name, text)| ((*name).to_owned(), text.replace("_PART", "_OLD")));
    let whole = Arc::new(Recipe::new(headers.collect(), None).unwrap());
    for device in devices() {
        for fibers in [false, true] {
            let unit = unit(
                fibers,
                &race(if fibers {
                    "__syncwarp(1 << threadIdx.x);"
                } else {
                    ""
                }),
                "turn",
            );
            let request = CompileRequest::new("entry", unit).with_build(BuildKind::Check);
            let told = [None, Some(whole.clone())].map(|recipe| {
                let request = CompileRequest {
                    recipe,
                    ..request.clone()
                };
                let artifact = device.compiler().unwrap().compile(&request).unwrap();
                let x = buffer(&device, &[0.0_f32; 2]);
                let plan = plan([1; 3], [2, 1, 1]);
                Loaded::of(&device, &artifact)
                    .launch(&plan, &[Arg::Buffer(&*x)])
                    .unwrap_err()
                    .to_string()
            });
            assert!(told[0].contains("race: it "), "{}", told[0]);
            assert_eq!(told[0], told[1]);
        }
    }
}
