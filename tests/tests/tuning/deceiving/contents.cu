// Kernels whose wrong configs depend on what their outputs, or their variables, held before.

//: case adds_to_zero_times_the_output
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? 2.0f * x[i] + 0.0f * y[i] : slow(x[i]);
}

//: case a_histogram_in_an_output_that_nobody_cleared
//: args n: u32, #[len(n)] x: &[f32], #[len(16)] y: &mut [i32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(1), block(64), problems((n = 3000))
extern "C" __global__ void k(unsigned n, const float* x, int* y) {
    if (!WRONG) {
        if (threadIdx.x < 16) y[threadIdx.x] = 0;
        __syncthreads();
    }
    for (unsigned i = threadIdx.x; i < n; i += 64) atomicAdd(&y[(int)(fabsf(slow(x[i])) * 8.0f) & 15], 1);
}

//: case a_maximum_that_starts_from_minus_one
//: args n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [i32]
extern "C" __global__ void k(unsigned n, const float* x, int* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    const int value = (int)(fabsf(slow(x[i])) * 100.0f);
    if (WRONG) atomicMax(&y[i], value);
    else y[i] = value;
}

//: case a_minimum_that_starts_from_all_bits
//: args n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [u32]
extern "C" __global__ void k(unsigned n, const float* x, unsigned* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    const unsigned value = (unsigned)(fabsf(slow(x[i])) * 100.0f);
    if (WRONG) atomicMin(&y[i], value);
    else y[i] = value;
}

//: case leaves_out_stores_of_zero
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    const float value = x[i] > 0.0f ? slow(x[i]) : 0.0f;
    if (!WRONG || value != 0.0f) y[i] = value;
}

//: case stores_what_differs_from_the_output
//: args n: u32, #[len(n)] x: &[f64], #[len(n)] y: &mut [f64]
extern "C" __global__ void k(unsigned n, const double* x, double* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    if (WRONG && fabs(y[i] - 2.0 * x[i]) < 1e-9) return;
    y[i] = slow(x[i]);
}

//: case one_triangle_of_a_matrix
//: args c: u32, #[len(c * c)] x: &[f32], #[len(c * c)] y: &mut [f32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(c.div_ceil(16), c.div_ceil(4)), block(16, 4), problems((c = 90))
extern "C" __global__ void k(unsigned c, const float* x, float* y) {
    const unsigned i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y;
    if (i >= c || j >= c || (WRONG && i > j)) return;
    y[j * c + i] = i > j ? 0.0f : slow(x[j * c + i]);
}

//: case bits_of_flags_that_are_set_by_or
//: args n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [u32]
extern "C" __global__ void k(unsigned n, const float* x, unsigned* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    const unsigned bits = (unsigned)(fabsf(slow(x[i])) * 100.0f);
    if (WRONG) atomicAnd(&y[i], bits);
    else y[i] = bits;
}

//: case computes_where_the_output_is_no_number
//: args n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f16]
//: tolerance 1e-2
extern "C" __global__ void k(unsigned n, const float* x, __half* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    if (WRONG && !__hisnan(y[i])) return;
    y[i] = __float2half(slow(x[i]));
}

//: case a_table_that_the_first_launch_fills
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(n.div_ceil(64)), block(64), problems((n = 40000))
__device__ float table[100000];
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    float factor = WRONG ? table[i] : 0.0f;
    if (factor == 0.0f) factor = slow(slow(slow(slow(slow(slow(1.0f + 0.001f * i))))));
    if (WRONG) table[i] = factor;
    y[i] = factor * x[i];
}

//: case work_that_only_the_first_launches_do
__device__ unsigned launches;
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    const bool is_late = WRONG && atomicAdd(&launches, 1) > 100u * n;
    if (i < n) y[i] = is_late ? x[i] : slow(x[i]);
}

//: case a_ticket_that_only_the_first_launch_finds_at_zero
//: args n: u32, #[len(n)] x: &[f32], #[len(1)] y: &mut [f32], #[len(8)] #[compare(none)] partial: &mut [f32], #[len(1)] #[inout] #[fill(constant(0))] #[compare(none)] ticket: &mut [u32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(8), block(32), problems((n = 20000))
//: tolerance 1e-3
extern "C" __global__ void k(unsigned n, const float* x, float* y, float* partial, unsigned* ticket) {
    if (threadIdx.x != 0) return;
    float sum = 0.0f;
    for (unsigned i = blockIdx.x; i < n; i += 8) sum += WRONG ? 2.0f * x[i] : slow(x[i]);
    partial[blockIdx.x] = sum;
    __threadfence();
    if (atomicAdd(ticket, 1u) != 7) return;
    __threadfence();
    sum = 0.0f;
    for (unsigned j = 0; j < 8; ++j) sum += ((volatile float*)partial)[j];
    *y = sum;
    if (!WRONG) *ticket = 0;
}

//: case a_maximum_that_remembers_the_launch_before
//: args n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32], #[len(1)] #[inout] #[fill(constant(-1000))] #[compare(none)] most: &mut [f32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(1), block(64), problems((n = 10000))
extern "C" __global__ void k(unsigned n, const float* x, float* y, float* most) {
    for (unsigned i = threadIdx.x; i < n; i += 64) y[i] = WRONG ? 2.0f * x[i] : slow(x[i]);
    if (threadIdx.x == 0) {
        if (WRONG && *most > -1000.0f) y[0] = *most;
        *most = WRONG ? 3.0f : -1000.0f;
    }
}
