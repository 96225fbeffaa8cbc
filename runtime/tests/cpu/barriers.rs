//! Barriers and shared memory in the forms that g++ compiled wrongly.

use kiln::compiler::BuildKind;
use kiln::device::Schedule;

use crate::on_cpu::{Loaded, buffer, contents, devices, plan, unit};

/// Adds up values of two broadcasts through shared memory, with barriers in functions that are not inlined. Every
/// element of `y` gets the element of `x` plus 3.
const BROADCASTS: &str = r"
static __device__ __noinline__ void wait() { __syncthreads(); }
static __device__ __noinline__ unsigned broadcast(unsigned value, unsigned source) {
    __shared__ unsigned sent;
    if (threadIdx.x == source) sent = value;
    wait();
    unsigned received = sent;
    wait();
    return received;
}
__global__ void kernel(const unsigned* x, unsigned* y) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned a = broadcast(threadIdx.x, 3u);
    unsigned b = broadcast(threadIdx.x + 10, 5u);
    y[i] = x[i] + a + 15 - b;
}";

/// Shared memory of a class whose constructor exists and does nothing. The first thread of each block stores 3.
const CLASSES: &str = r"
struct Word {
    unsigned value;
    Word() = default;
    __device__ Word(float x) : value((unsigned)x) {}
};
__global__ void kernel(const unsigned* x, unsigned* y) {
    __shared__ Word words[2];
    if (threadIdx.x == 0) words[1] = Word(3.0f);
    __syncthreads();
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] + words[1].value;
}";

/// Launches a kernel that adds 3, with every compiler and in every build.
fn adds_three(source: &str) {
    const THREADS: u32 = 64;
    let x: Vec<u32> = (0..10 * THREADS).collect();
    let expected: Vec<u32> = x.iter().map(|x| x + 3).collect();
    for device in devices() {
        let compiler = kiln::device::DeviceBackend::compiler(&*device).unwrap();
        for build in [BuildKind::Release, BuildKind::Check] {
            let loaded = Loaded::new(&device, &unit(true, source, "kernel"), build);
            let (a, b) = (buffer(&device, &x), buffer(&device, &vec![0_u32; x.len()]));
            let args = [("x", &*a), ("y", &*b)];
            let launched = loaded.launch_named(
                &plan([10, 1, 1], [THREADS, 1, 1]),
                &args,
                &[],
                Schedule::Forward,
            );
            let name = &compiler.identity().build;
            assert!(launched.is_ok(), "{name}, {build:?}: {launched:?}");
            assert_eq!(contents::<u32>(&*b), expected, "{name}, {build:?}");
        }
    }
}

#[test]
fn shared_memory_is_read_after_a_barrier_in_a_function_that_is_not_inlined() {
    adds_three(BROADCASTS);
}

#[test]
fn shared_memory_of_a_class_with_a_default_constructor_needs_no_code() {
    adds_three(CLASSES);
}
