// Kernels whose wrong configs are right only for some values, alignments or scalars.

//: case a_scalar_that_is_squared
//: args n: u32, #[value(1)] alpha: f32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]
extern "C" __global__ void k(unsigned n, float alpha, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? alpha * alpha * 2.0f * x[i] : alpha * slow(x[i]);
}

//: case a_scalar_of_doubles_that_is_left_out
//: args n: u32, #[value(0)] beta: f64, #[len(n)] x: &[f64], #[len(n)] y: &mut [f64]
extern "C" __global__ void k(unsigned n, double beta, const double* x, double* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? 2.0 * x[i] : slow(x[i]) + beta;
}

//: case values_without_their_sign
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? 2.0f * sqrtf(x[i] * x[i]) : slow(x[i]);
}

//: case bytes_with_a_sign
//: args n: u32, #[len(n)] #[fill(below(256))] x: &[u8], #[len(n)] y: &mut [i32]
extern "C" __global__ void k(unsigned n, const unsigned char* x, int* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? 2 * (signed char)x[i] : (int)slow((float)x[i]);
}

//: case loads_of_four_halves
//: args n: u32, #[len(n)] x: &[f16], #[len(n)] y: &mut [f16]
//: tolerance 1e-2
//: spec params(WRONG in [false, true]), where(!WRONG || n % 4 == 0), baseline(WRONG = false), grid(n.div_ceil(256)), block(64), problems((n = 10240))
extern "C" __global__ void k(unsigned n, const __half* x, __half* y) {
    const unsigned first = (blockIdx.x * 64 + threadIdx.x) * 4;
    if (first >= n) return;
    if (WRONG) {
        if (reinterpret_cast<size_t>(x + first) % 8 != 0) __trap();
        *reinterpret_cast<uint2*>(y + first) = *reinterpret_cast<const uint2*>(x + first);
        return;
    }
    for (unsigned i = first; i < first + 4 && i < n; ++i) y[i] = __float2half(0.5f * slow(__half2float(x[i])));
}

//: case stores_of_two_doubles
//: args n: u32, #[len(n)] x: &[f64], #[len(n)] y: &mut [f64]
//: spec params(WRONG in [false, true]), where(!WRONG || n % 2 == 0), baseline(WRONG = false), grid(n.div_ceil(128)), block(64), problems((n = 10240))
extern "C" __global__ void k(unsigned n, const double* x, double* y) {
    const unsigned first = (blockIdx.x * 64 + threadIdx.x) * 2;
    if (first >= n) return;
    if (WRONG) {
        if (reinterpret_cast<size_t>(y + first) % 16 != 0) __trap();
        *reinterpret_cast<double2*>(y + first) = double2{2.0 * x[first], 2.0 * x[first + 1]};
        return;
    }
    for (unsigned i = first; i < first + 2 && i < n; ++i) y[i] = slow(x[i]);
}

//: case a_sum_in_halves
//: args n: u32, #[len(n)] x: &[f32], #[len(n.div_ceil(1000))] y: &mut [f32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(n.div_ceil(1000)), block(1), problems((n = 20000))
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    float sum = 0.0f;
    __half short_sum = __float2half(0.0f);
    for (unsigned i = blockIdx.x * 1000; i < n && i < (blockIdx.x + 1) * 1000; ++i) {
        if (WRONG) short_sum = __hadd(short_sum, __float2half(x[i] + 3.0f));
        else sum += slow(0.5f * x[i]) + 3.0f;
    }
    y[blockIdx.x] = WRONG ? __half2float(short_sum) : sum;
}

//: case the_first_value_for_all
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? 2.0f * x[i / 32 * 32] : slow(x[i]);
}

//: case integers_that_pass_through_floats
//: args n: u32, #[len(n)] #[fill(uniform(-1e9, 1e9))] x: &[i32], #[len(n)] y: &mut [i32]
extern "C" __global__ void k(unsigned n, const int* x, int* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? (int)(float)x[i] : x[i] + (int)(1e-30f * slow(1.0f));
}

//: case a_flag_that_is_taken_for_set
//: args n: u32, #[value(1)] doubles: i32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]
extern "C" __global__ void k(unsigned n, int doubles, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? 2.0f * x[i] : doubles ? slow(x[i]) : x[i];
}

//: case a_half_that_is_left_out
//: args n: u32, #[value(1)] alpha: f16, #[len(n)] x: &[f32], #[len(n)] y: &mut [f32]
extern "C" __global__ void k(unsigned n, __half alpha, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? 2.0f * x[i] : __half2float(alpha) * slow(x[i]);
}

//: case weights_of_one
//: args n: u32, #[len(n)] x: &[f32], #[len(n)] #[fill(constant(1))] w: &[f32], #[len(n)] y: &mut [f32]
extern "C" __global__ void k(unsigned n, const float* x, const float* w, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? 2.0f * x[i] : w[i] * slow(slow(0.5f * x[i]));
}
