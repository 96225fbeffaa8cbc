//! Tests kernels on the cpu device with real compilers and real launches. Results are compared with plain Rust.

use crate::on_cpu::{Arg, Loaded, buffer, contents, devices, plan, unit};
use kiln::compiler::BuildKind;
use kiln::device::{DeviceBackend as _, DeviceError};
use kiln::spec::LaunchPlan;

/// Values that differ from their neighbours and are exact in f32.
fn values(n: usize) -> Vec<f32> {
    (0..n)
        .map(|i| ((i * 37 + 11) % 101) as f32 - 50.0)
        .collect()
}

#[test]
fn vectors_are_added_at_every_width_and_ragged_length() {
    let source = "
        template <int WIDTH> __global__ void add(float* c, const float* a, const float* b, int n) {
            int i = (blockIdx.x * blockDim.x + threadIdx.x) * WIDTH;
            if (WIDTH == 4 && i + 4 <= n) {
                float4 x = *(const float4*)(a + i), y = *(const float4*)(b + i);
                *(float4*)(c + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
            } else {
                for (int k = i; k < i + WIDTH && k < n; k++) c[k] = a[k] + b[k];
            }
        }";
    for device in devices() {
        for width in [1, 2, 4] {
            let kernel = Loaded::new(
                &device,
                &unit(false, source, &format!("add<{width}>")),
                BuildKind::Release,
            );
            for n in [1_usize, 100, 4096, 100_003] {
                let (a, b) = (values(n), values(n + 7)[7..].to_vec());
                let (da, db, dc) = (
                    buffer(&device, &a),
                    buffer(&device, &b),
                    buffer(&device, &vec![0_f32; n]),
                );
                let threads = (n as u32).div_ceil(width);
                let args = [
                    Arg::Buffer(&*dc),
                    Arg::Buffer(&*da),
                    Arg::Buffer(&*db),
                    Arg::Int(n as i32),
                ];
                kernel
                    .launch(&plan([threads.div_ceil(128), 1, 1], [128, 1, 1]), &args)
                    .unwrap();
                let expected: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
                assert_eq!(contents::<f32>(&*dc), expected, "width {width}, n {n}");
            }
        }
    }
}

const TILED_GEMM: &str = "
    #define TILE 16
    __global__ void gemm(float* c, const float* a, const float* b, int m, int n, int k) {
        __shared__ float left[TILE][TILE], right[TILE][TILE + 1];
        int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
        float sum = 0;
        for (int begin = 0; begin < k; begin += TILE) {
            int x = begin + threadIdx.x, y = begin + threadIdx.y;
            left[threadIdx.y][threadIdx.x] = row < m && x < k ? a[row * k + x] : 0.0f;
            right[threadIdx.y][threadIdx.x] = y < k && column < n ? b[y * n + column] : 0.0f;
            __syncthreads();
            for (int i = 0; i < TILE; i++) sum += left[threadIdx.y][i] * right[i][threadIdx.x];
            __syncthreads();
        }
        if (row < m && column < n) c[row * n + column] = sum;
    }";

#[test]
fn a_tiled_gemm_with_shared_memory_and_barriers_is_right_for_ragged_sizes() {
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, TILED_GEMM, "gemm"), BuildKind::Release);
        assert_eq!(
            kernel.function.static_shared_bytes(),
            4 * (16 * 16 + 16 * 17)
        );
        for (m, n, k) in [(16, 16, 16), (33, 47, 29), (1, 5, 100)] {
            let (a, b) = (values(m * k), values(k * n));
            let (da, db, dc) = (
                buffer(&device, &a),
                buffer(&device, &b),
                buffer(&device, &vec![0_f32; m * n]),
            );
            let args = [
                Arg::Buffer(&*dc),
                Arg::Buffer(&*da),
                Arg::Buffer(&*db),
                Arg::Int(m as i32),
                Arg::Int(n as i32),
                Arg::Int(k as i32),
            ];
            let grid = [n.div_ceil(16) as u32, m.div_ceil(16) as u32, 1];
            kernel.launch(&plan(grid, [16, 16, 1]), &args).unwrap();
            let expected: Vec<f32> = (0..m * n)
                .map(|i| (0..k).map(|j| a[i / n * k + j] * b[j * n + i % n]).sum())
                .collect();
            assert_eq!(contents::<f32>(&*dc), expected, "{m} x {n} x {k}");
        }
    }
}

#[test]
fn a_softmax_by_warp_shuffles_sums_to_one_in_every_row() {
    let source = "
        __global__ void softmax(float* out, const float* in, int columns) {
            int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
            const float* from = in + row * columns;
            float largest = -INFINITY, sum = 0;
            for (int i = lane; i < columns; i += 32) largest = fmaxf(largest, from[i]);
            for (int step = 16; step > 0; step /= 2)
                largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, step));
            for (int i = lane; i < columns; i += 32) sum += __expf(from[i] - largest);
            for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
            sum = __shfl_sync(0xffffffff, sum, 0);
            for (int i = lane; i < columns; i += 32) out[row * columns + i] = __expf(from[i] - largest) / sum;
        }";
    let (rows, columns) = (12, 77);
    let input = values(rows * columns);
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "softmax"), BuildKind::Release);
        let (from, to) = (
            buffer(&device, &input),
            buffer(&device, &vec![0_f32; rows * columns]),
        );
        let args = [
            Arg::Buffer(&*to),
            Arg::Buffer(&*from),
            Arg::Int(columns as i32),
        ];
        kernel
            .launch(&plan([rows as u32 / 4, 1, 1], [128, 1, 1]), &args)
            .unwrap();
        let output = contents::<f32>(&*to);
        for (row, given) in output.chunks(columns).zip(input.chunks(columns)) {
            let largest = given
                .iter()
                .fold(f64::NEG_INFINITY, |m, &x| m.max(f64::from(x)));
            let sum: f64 = given.iter().map(|&x| (f64::from(x) - largest).exp()).sum();
            for (&got, &x) in row.iter().zip(given) {
                let expected = (f64::from(x) - largest).exp() / sum;
                assert!(
                    (f64::from(got) - expected).abs() <= 1e-6 * expected + 1e-30,
                    "{got} {expected}"
                );
            }
        }
    }
}

#[test]
fn a_histogram_in_shared_memory_counts_every_byte_once() {
    let source = "
        __global__ void histogram(unsigned* total, const unsigned char* data, int n) {
            __shared__ unsigned counts[256];
            for (int i = threadIdx.x; i < 256; i += blockDim.x) counts[i] = 0;
            __syncthreads();
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
                atomicAdd(&counts[data[i]], 1u);
            __syncthreads();
            for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&total[i], counts[i]);
        }";
    let data: Vec<u8> = (0..100_000_u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 21) as u8)
        .collect();
    let mut expected = vec![0_u32; 256];
    data.iter()
        .for_each(|&byte| expected[usize::from(byte)] += 1);
    for device in devices() {
        let kernel = Loaded::new(
            &device,
            &unit(true, source, "histogram"),
            BuildKind::Release,
        );
        let (from, to) = (buffer(&device, &data), buffer(&device, &[0_u32; 256]));
        let args = [
            Arg::Buffer(&*to),
            Arg::Buffer(&*from),
            Arg::Int(data.len() as i32),
        ];
        kernel.launch(&plan([37, 1, 1], [96, 1, 1]), &args).unwrap();
        assert_eq!(contents::<u32>(&*to), expected);
    }
}

#[test]
fn dynamic_shared_memory_holds_what_the_plan_asks_for() {
    let source = "
        __global__ void reverse(int* data) {
            int* held = (int*)kiln_cpu_dynamic_shared();
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            held[threadIdx.x] = data[i];
            __syncthreads();
            data[i] = held[blockDim.x - 1 - threadIdx.x];
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "reverse"), BuildKind::Release);
        let memory = buffer(&device, &(0..600).collect::<Vec<i32>>());
        let mut plan = LaunchPlan {
            shared_bytes: 800,
            ..plan([3, 1, 1], [200, 1, 1])
        };
        kernel.launch(&plan, &[Arg::Buffer(&*memory)]).unwrap();
        let expected: Vec<i32> = (0..600).map(|i| i / 200 * 200 + 199 - i % 200).collect();
        assert_eq!(contents::<i32>(&*memory), expected);
        plan.shared_bytes = device.info().limits.shared_bytes_per_block + 1;
        let error = kernel.launch(&plan, &[Arg::Buffer(&*memory)]).unwrap_err();
        assert!(matches!(error, DeviceError::Plan { .. }), "{error}");
    }
}

#[test]
fn threads_that_return_before_a_barrier_do_not_hold_up_the_others() {
    let source = "
        __global__ void early(int* out, int n) {
            __shared__ int sum;
            if (threadIdx.x == 0) sum = 0;
            __syncthreads();
            if ((int)threadIdx.x >= n) return;
            atomicAdd(&sum, 1);
            __syncthreads();
            int all = __shfl_xor_sync(0xffffffff, 1, 1, 2);
            out[threadIdx.x] = 100 * sum + all;
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "early"), BuildKind::Release);
        let memory = buffer(&device, &[0_i32; 70]);
        // Lanes 6 and 7 of the third warp remain. All later lanes have exited before the shuffle.
        kernel
            .launch(
                &plan([1; 3], [70, 1, 1]),
                &[Arg::Buffer(&*memory), Arg::Int(68)],
            )
            .unwrap();
        let expected: Vec<i32> = (0..70).map(|i| if i < 68 { 6801 } else { 0 }).collect();
        assert_eq!(contents::<i32>(&*memory), expected);
    }
}

#[test]
fn masks_split_a_warp_into_groups_that_do_not_wait_for_each_other() {
    let source = "
        __global__ void groups(unsigned* out) {
            unsigned lane = threadIdx.x % 32, value = 0;
            if (lane < 8) {
                for (unsigned i = 0; i < lane % 3; i++) value += i;  // nothing the result depends on
                value = __ballot_sync(0x000000ff, lane & 1);
                value += __shfl_sync(0x000000ff, lane, 3);
            } else if (lane < 20) {
                value = __reduce_add_sync(0x000fff00, lane);
                value += __any_sync(0x000fff00, lane == 9) + 2 * __all_sync(0x000fff00, lane > 7);
            } else {
                value = __match_any_sync(0xfff00000, lane / 6);
            }
            __syncwarp();
            out[threadIdx.x] = value + 1000000 * __popc(__ballot_sync(0xffffffff, lane < 30));
        }";
    let expected = |lane: u32| {
        let group = match lane {
            0..8 => 0xaa + 3,
            8..20 => (8..20).sum::<u32>() + 3,
            _ => (20..32)
                .filter(|other| other / 6 == lane / 6)
                .map(|other| 1 << other)
                .sum(),
        };
        group.wrapping_add(30_000_000)
    };
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "groups"), BuildKind::Release);
        let memory = buffer(&device, &[0_u32; 64]);
        kernel
            .launch(&plan([1; 3], [64, 1, 1]), &[Arg::Buffer(&*memory)])
            .unwrap();
        let expected: Vec<u32> = (0..64).map(|thread| expected(thread % 32)).collect();
        assert_eq!(contents::<u32>(&*memory), expected);
    }
}

#[test]
fn block_wide_votes_count_every_thread() {
    let source = "
        __global__ void votes(int* out) {
            int t = threadIdx.x;
            int count = __syncthreads_count(t % 3 == 0);
            int any = __syncthreads_or(t == 99), none = __syncthreads_or(t == 100);
            int all = __syncthreads_and(t < 100), some = __syncthreads_and(t < 99);
            out[t] = count * 10000 + any * 1000 + none * 100 + all * 10 + some;
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "votes"), BuildKind::Release);
        let memory = buffer(&device, &[0_i32; 100]);
        kernel
            .launch(&plan([1; 3], [100, 1, 1]), &[Arg::Buffer(&*memory)])
            .unwrap();
        assert_eq!(contents::<i32>(&*memory), [341_010; 100]);
    }
}

#[test]
fn blocks_of_1024_threads_run_with_barriers_in_loops_and_device_functions() {
    let source = "
        __device__ int sum_of_block(int value, int* held) {
            held[threadIdx.x] = value;
            __syncthreads();
            for (int half = blockDim.x / 2; half > 0; half /= 2) {
                if (threadIdx.x < half) held[threadIdx.x] += held[threadIdx.x + half];
                __syncthreads();
            }
            int sum = held[0];
            __syncthreads();
            return sum;
        }
        __global__ void sums(int* out) {
            __shared__ int held[1024];
            int first = sum_of_block(threadIdx.x, held);
            int second = sum_of_block(first % 7 + blockIdx.x, held);
            out[blockIdx.x * blockDim.x + threadIdx.x] = second;
        }";
    for device in devices() {
        let kernel = Loaded::new(&device, &unit(true, source, "sums"), BuildKind::Release);
        let memory = buffer(&device, &[0_i32; 3072]);
        kernel
            .launch(&plan([3, 1, 1], [1024, 1, 1]), &[Arg::Buffer(&*memory)])
            .unwrap();
        let expected: Vec<i32> = (0..3072).map(|i| (523_776 % 7 + i / 1024) * 1024).collect();
        assert_eq!(contents::<i32>(&*memory), expected);
        let error = kernel
            .launch(&plan([1; 3], [1025, 1, 1]), &[Arg::Buffer(&*memory)])
            .unwrap_err();
        assert!(matches!(error, DeviceError::Plan { .. }), "{error}");
    }
}
