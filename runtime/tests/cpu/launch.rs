//! Tests of launches on the cpu device: geometry, receipts, copies of the object, limits and faults.

use crate::on_cpu::{self, Arg, Loaded, buffer, compile, contents, devices, options, plan, unit};
use kiln::compiler::BuildKind;
use kiln::device::{DeviceError, ErrorClass};
use kiln::spec::LaunchPlan;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Every thread writes its own index in the grid to the element with that index, and counts the writes.
const NUMBERS: &str = "
    __global__ void numbers(unsigned* out, unsigned* writes) {
        unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
        unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
        unsigned id = block * blockDim.x * blockDim.y * blockDim.z + thread;
        BARRIER;
        out[id] = id;
        atomicAdd(&writes[id], 1u);
    }";

#[test]
fn every_thread_of_any_grid_and_block_runs_exactly_once() {
    let extents = |most: u32| (1..=most, 1..=4_u32, 1..=3_u32).prop_map(|(x, y, z)| [x, y, z]);
    for device in devices() {
        for (fibers, barrier) in [(false, ""), (true, "__syncthreads()")] {
            let source = NUMBERS.replace("BARRIER", barrier);
            let kernel = Loaded::new(
                &device,
                &unit(fibers, &source, "numbers"),
                BuildKind::Release,
            );
            let geometry = (
                extents(9),
                prop_oneof![extents(70), (1..=1024_u32).prop_map(|x| [x, 1, 1])],
            );
            let mut runner = TestRunner::new(Config {
                failure_persistence: None,
                ..Config::with_cases(60)
            });
            let run = runner.run(&geometry, |(grid, block)| {
                let threads = grid.iter().chain(&block).product::<u32>() as usize;
                let (out, writes) = (
                    buffer(&device, &vec![0_u32; threads]),
                    buffer(&device, &vec![0_u32; threads]),
                );
                kernel
                    .launch(
                        &plan(grid, block),
                        &[Arg::Buffer(&*out), Arg::Buffer(&*writes)],
                    )
                    .unwrap();
                prop_assert_eq!(
                    contents::<u32>(&*out),
                    (0..threads as u32).collect::<Vec<_>>()
                );
                prop_assert_eq!(contents::<u32>(&*writes), vec![1; threads]);
                Ok(())
            });
            run.unwrap();
        }
    }
}

#[test]
fn a_large_grid_is_shared_by_the_pool_and_every_block_runs_once() {
    let options = kiln::backend::cpu::CpuOptions {
        threads: 4,
        ..options()
    };
    for device in on_cpu::devices_with(&options) {
        let source = NUMBERS.replace("BARRIER", "__syncthreads()");
        let kernel = Loaded::new(&device, &unit(true, &source, "numbers"), BuildKind::Release);
        let threads = 4000 * 64;
        let (out, writes) = (
            buffer(&device, &vec![0_u32; threads]),
            buffer(&device, &vec![0_u32; threads]),
        );
        let args = [Arg::Buffer(&*out), Arg::Buffer(&*writes)];
        let plan = plan([40, 10, 10], [64, 1, 1]);
        for launches in 1..=3 {
            kernel.launch(&plan, &args).unwrap();
            assert_eq!(contents::<u32>(&*writes), vec![launches; threads]);
        }
        assert!(kernel.time(&plan, &args, 2) > 0);
        assert_eq!(contents::<u32>(&*writes), vec![5; threads]);
    }
}

#[test]
fn every_thread_of_the_pool_takes_its_share_of_a_kernel_without_shared_memory() {
    let options = kiln::backend::cpu::CpuOptions {
        threads: 4,
        ..options()
    };
    // The object has only the builtin variables, which a compiler may split.
    let source = "
        extern \"C\" unsigned long pthread_self(void);
        __global__ void who(unsigned long long* out) {
            out[blockIdx.x * blockDim.x + threadIdx.x] = pthread_self();
        }";
    for device in on_cpu::devices_with(&options) {
        let kernel = Loaded::new(&device, &unit(false, source, "who"), BuildKind::Release);
        let out = buffer(&device, &vec![0_u64; 4000 * 64]);
        // Shares are even, so each thread runs its own shares.
        kernel.time(&plan([4000, 1, 1], [64, 1, 1]), &[Arg::Buffer(&*out)], 2);
        let mut who = contents::<u64>(&*out);
        who.sort_unstable();
        who.dedup();
        assert_eq!(who.len(), 4);
    }
}

#[test]
fn a_receipt_tells_the_launch_that_ran_and_only_that() {
    let source = "
        __global__ void signed_entry(float* x, kiln_receipt* kiln_r) {
            KILN_SIGN_RECEIPT(kiln_r, 0x0123456789abcdefull, 0xfedcba9876543210ull);
            x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
        }";
    for device in devices() {
        for fibers in [false, true] {
            let kernel = Loaded::new(
                &device,
                &unit(fibers, source, "signed_entry"),
                BuildKind::Release,
            );
            let data = buffer(&device, &[0_f32; 384 * 7]);
            let mut blank = [0_u8; 96];
            blank[..8].copy_from_slice(&77_u64.to_le_bytes());
            let receipt = buffer(&device, &blank);
            let plan = LaunchPlan {
                grid: [7, 1, 1],
                block: [384, 1, 1],
                shared_bytes: 4096,
            };
            kernel
                .launch(&plan, &[Arg::Buffer(&*data), Arg::Buffer(&*receipt)])
                .unwrap();
            let words = contents::<u64>(&*receipt);
            assert_eq!(words[..2], [77, 77], "the nonce is copied");
            assert_eq!(
                words[2..5],
                [0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210, 384 * 7]
            );
            let halves = contents::<u32>(&*receipt);
            assert_eq!(halves[10..18], [384, 1, 1, 7, 1, 1, 4096, 32]);
            assert_eq!(words[9..], [1, 0, 0], "version, then nothing");
        }
    }
}

#[test]
fn each_thread_of_the_pool_has_shared_memory_of_its_own() {
    // Every block fills shared memory with its index, waits for a while, and checks it.
    let source = "
        __global__ void hold(int* wrong, int rounds) {
            __shared__ int held[64];
            for (int round = 0; round < rounds; round++) {
                held[threadIdx.x] = blockIdx.x * 1000 + round;
                __syncthreads();
                if (held[63 - threadIdx.x] != (int)blockIdx.x * 1000 + round) atomicAdd(wrong, 1);
                __syncthreads();
            }
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "hold"), BuildKind::Release);
        let wrong = buffer(&device, &[0_i32]);
        for _ in 0..3 {
            kernel
                .launch(
                    &plan([64, 1, 1], [64, 1, 1]),
                    &[Arg::Buffer(&*wrong), Arg::Int(200)],
                )
                .unwrap();
        }
        assert_eq!(contents::<i32>(&*wrong), [0]);
    }
}

#[test]
fn a_device_variable_is_shared_by_all_blocks_and_launches_and_constants_are_not_taken_for_one() {
    let source = "
        __device__ int ticket = 0;
        __constant__ int step[2] = {3, 4};
        __constant__ const int offset = 7;
        __global__ void take(int* out) {
            for (volatile int i = 0; i < 2000; i++) {}
            if (threadIdx.x == 0) out[blockIdx.x] = atomicAdd(&ticket, step[0]) + offset;
        }";
    let constant_only = source
        .replace("__device__ int ticket = 0;", "")
        .replace("&ticket", "&out[blockIdx.x]");
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(false, source, "take"), BuildKind::Release);
        let out = buffer(&device, &[0_i32; 100]);
        for launch in 0..3 {
            kernel
                .launch(&plan([100, 1, 1], [32, 1, 1]), &[Arg::Buffer(&*out)])
                .unwrap();
            let mut tickets = contents::<i32>(&*out);
            tickets.sort_unstable();
            let expected: Vec<i32> = (0..100).map(|i| 3 * (launch * 100 + i) + 7).collect();
            assert_eq!(tickets, expected);
        }
        let kernel = Loaded::new(
            &device,
            &unit(false, &constant_only, "take"),
            BuildKind::Release,
        );
        let out = buffer(&device, &[1_i32; 100]);
        kernel
            .launch(&plan([100, 1, 1], [32, 1, 1]), &[Arg::Buffer(&*out)])
            .unwrap();
        assert_eq!(contents::<i32>(&*out), [8; 100]);
    }
}

#[test]
fn a_fault_is_an_error_and_the_next_launch_runs() {
    let source = "
        #include <assert.h>
        __global__ void check(const int* limit, int* out) {
            __syncthreads();
            assert((int)threadIdx.x < *limit);
            out[threadIdx.x] = 1;
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "check"), BuildKind::Release);
        let out = buffer(&device, &[0_i32; 40]);
        let launch = |limit: i32| {
            let limit = buffer(&device, &[limit]);
            kernel.launch(
                &plan([1; 3], [40, 1, 1]),
                &[Arg::Buffer(&*limit), Arg::Buffer(&*out)],
            )
        };
        let error = launch(33).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Invalid);
        let text = error.to_string();
        let expected = "block (0,0,0) thread (33,0,0): assertion `(int)threadIdx.x < *limit` failed at kernel.cu:5";
        assert!(text.contains(expected), "{text}");
        launch(40).unwrap();
        assert_eq!(contents::<i32>(&*out), [1; 40]);
    }
}

#[test]
fn a_barrier_in_loop_mode_is_a_fault_and_never_passes_silently() {
    let source = "
        #define MEET __syncthreads()
        __global__ void meet(int* out) { out[threadIdx.x] = 1; MEET; out[threadIdx.x] = 2; }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(false, source, "meet"), BuildKind::Release);
        let out = buffer(&device, &[0_i32; 8]);
        let error = kernel
            .launch(&plan([1; 3], [8, 1, 1]), &[Arg::Buffer(&*out)])
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("__syncthreads()") && text.contains("KILN_CPU_FIBERS"),
            "{text}"
        );
        assert!(!contents::<i32>(&*out).contains(&2));
    }
}

#[test]
fn a_shuffle_that_waits_for_lanes_that_never_come_is_told_in_release_builds_too() {
    let source = "
        __global__ void lonely(int* out) {
            if (threadIdx.x < 3) out[threadIdx.x] = __shfl_sync(0x0000000f, 1, 0);
            else __syncthreads();
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "lonely"), BuildKind::Release);
        let out = buffer(&device, &[0_i32; 32]);
        let error = kernel
            .launch(&plan([1; 3], [32, 1, 1]), &[Arg::Buffer(&*out)])
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("waits for lanes that never come: mask 0x0000000f, missing 0x00000008"),
            "{text}"
        );
        assert!(
            text.contains("29 threads wait at __syncthreads()"),
            "{text}"
        );
    }
}

#[test]
fn a_stack_that_is_too_small_is_refused_by_the_compiler_or_told_after_the_launch() {
    let large_frame = "
        __global__ void large(int* out) {
            volatile int local[4000];
            for (int i = 0; i < 4000; i++) local[i] = i;
            __syncthreads();
            out[threadIdx.x] = local[threadIdx.x];
        }";
    let recursive = "
        __device__ __noinline__ int depth(int n, volatile char* above) {
            volatile char local[200];  // passed on, so that the recursion is not a loop
            for (int i = 0; i < 200; i++) local[i] = 1;
            return n == 0 ? 0 : local[n] + depth(n - 1, local) * above[n];
        }
        __global__ void deep(int* out, int n) {
            __syncthreads();
            volatile char one[200];
            for (int i = 0; i < 200; i++) one[i] = 1;
            out[threadIdx.x] = depth(threadIdx.x == 40 ? n : 1, one);
        }";
    for device in devices() {
        let error = compile(
            &device,
            &unit(true, large_frame, "large"),
            BuildKind::Release,
        )
        .unwrap_err();
        assert!(
            error.to_string().contains("local variables of a thread"),
            "{error}"
        );
        let kernel = Loaded::new(&device, &unit(true, recursive, "deep"), BuildKind::Release);
        let out = buffer(&device, &[0_i32; 64]);
        let launch = |n| {
            kernel.launch(
                &plan([1; 3], [64, 1, 1]),
                &[Arg::Buffer(&*out), Arg::Int(n)],
            )
        };
        launch(30).unwrap();
        assert_eq!(contents::<i32>(&*out)[40], 30);
        let error = launch(80).unwrap_err();
        assert!(error.to_string().contains("overran its stack"), "{error}");
        launch(30).unwrap();
    }
}

#[test]
fn limits_are_checked_before_anything_runs() {
    let source = "
        __global__ void fill(float* out, int n) {
            __shared__ float tile[9000];
            tile[threadIdx.x] = n;
            if (n > 0) out[threadIdx.x] = tile[threadIdx.x + n];
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(false, source, "fill"), BuildKind::Release);
        let out = buffer(&device, &[0_f32; 32]);
        let args = [Arg::Buffer(&*out), Arg::Int(0)];
        let refused = |plan: LaunchPlan| {
            let error = kernel.launch(&plan, &args).unwrap_err();
            assert_eq!(error.class(), ErrorClass::LaunchRefused, "{error}");
            error.to_string()
        };
        let with_shared = LaunchPlan {
            shared_bytes: 16000,
            ..plan([1; 3], [32, 1, 1])
        };
        let refusal = refused(with_shared);
        assert!(
            refusal.contains("36000 static and 16000 dynamic bytes, but a block has 49152"),
            "{refusal}"
        );
        assert!(refused(plan([1; 3], [32, 64, 1])).contains("threads per block"));
        assert!(refused(plan([1, 70_000, 1], [32, 1, 1])).contains("grid y"));
        assert!(refused(plan([1 << 24, 1, 1], [32, 1, 1])).contains("grid x * block x"));
        let error = kernel
            .launch(&plan([1; 3], [32, 1, 1]), &args[..1])
            .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("1 arguments given, but the kernel takes 2"),
            "{error}"
        );
    }
    let raised = options().with_raised_limits();
    for device in on_cpu::devices_with(&raised) {
        let kernel = Loaded::new(
            &device,
            &unit(
                true,
                &source.replace("tile[threadIdx.x] = n", "__syncthreads()"),
                "fill",
            ),
            BuildKind::Release,
        );
        let out = buffer(&device, &[0_f32; 32]);
        let plan = LaunchPlan {
            shared_bytes: 200_000,
            ..plan([1; 3], [2048, 1, 1])
        };
        kernel
            .launch(&plan, &[Arg::Buffer(&*out), Arg::Int(0)])
            .unwrap();
    }
}

#[test]
fn a_function_of_one_device_is_refused_by_another() {
    let mut devices = devices();
    let Some(device) = devices.pop() else { return };
    let other = kiln::backend::cpu::CpuDevice::with_options(options()).unwrap();
    let source = "__global__ void nothing() {}";
    let mut kernel = Loaded::new(&device, &unit(false, source, "nothing"), BuildKind::Release);
    kernel.launch(&plan([1; 3], [1; 3]), &[]).unwrap();
    kernel.device = other;
    let error = kernel.launch(&plan([1; 3], [1; 3]), &[]).unwrap_err();
    assert!(
        matches!(error, DeviceError::LaunchRefused { .. }),
        "{error}"
    );
}

#[test]
fn modules_are_told_apart_even_when_their_descriptors_are_reused() {
    for device in devices() {
        let kernels: Vec<Loaded> = (0..6)
            .map(|value| {
                let source = format!("__global__ void constant(int* out) {{ *out = {value}; }}");
                Loaded::new(
                    &device,
                    &unit(false, &source, "constant"),
                    BuildKind::Release,
                )
            })
            .collect();
        for (value, kernel) in kernels.iter().enumerate() {
            let out = buffer(&device, &[-1_i32]);
            kernel
                .launch(&plan([1; 3], [1; 3]), &[Arg::Buffer(&*out)])
                .unwrap();
            assert_eq!(contents::<i32>(&*out), [value as i32]);
        }
    }
}

#[test]
fn launches_from_many_threads_run_one_after_another() {
    for device in devices() {
        // The addition is not atomic, so overlapping launches would lose counts.
        let source = "__global__ void count(int* out, int n) { for (int i = 0; i < n; i++) *(volatile int*)out += 1; }";
        let kernel = Loaded::new(&device, &unit(false, source, "count"), BuildKind::Release);
        let out = buffer(&device, &[0_i32]);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        kernel
                            .launch(&plan([1; 3], [1; 3]), &[Arg::Buffer(&*out), Arg::Int(100)])
                            .unwrap();
                    }
                });
            }
        });
        assert_eq!(contents::<i32>(&*out), [20_000]);
    }
}
