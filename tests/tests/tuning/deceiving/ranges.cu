// Kernels whose wrong configs are right only for values of the default range, in inputs without a `#[fill(..)]`.

//: case digits_of_four_bits
//: args n: u32, #[len(n)] x: &[u32], #[len(n)] y: &mut [u32]
extern "C" __global__ void k(unsigned n, const unsigned* x, unsigned* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    unsigned smaller = 0;
    for (unsigned j = i / 64 * 64; j < n && j < i / 64 * 64 + 64; ++j) {
        const unsigned a = WRONG ? x[j] & 15 : x[j], b = WRONG ? x[i] & 15 : x[i];
        smaller += a < b || (a == b && j < i);
    }
    y[i] = WRONG ? smaller : smaller + (unsigned)(1e-30f * slow(slow(slow((float)i))));
}

//: case remainders_of_negative_numbers
//: args n: u32, #[len(n)] x: &[i32], #[len(n)] y: &mut [i32]
extern "C" __global__ void k(unsigned n, const int* x, int* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? x[i] & 7 : x[i] % 8 + (int)(1e-30f * slow((float)i));
}

//: case the_last_of_equal_maxima
//: args rows: u32, #[len(rows * 64)] x: &[f32], #[len(rows)] y: &mut [u32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(rows.div_ceil(64)), block(64), problems((rows = 2000))
extern "C" __global__ void k(unsigned rows, const float* x, unsigned* y) {
    const unsigned row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    const float* values = x + row * 64;
    unsigned best = 0;
    for (unsigned j = 1; j < 64; ++j) {
        if (WRONG ? values[j] >= values[best] : slow(values[j]) > slow(values[best])) best = j;
    }
    y[row] = best;
}

//: case rows_without_a_positive_number
//: args rows: u32, #[len(rows * 64)] x: &[f32], #[len(rows)] y: &mut [i32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(rows.div_ceil(64)), block(64), problems((rows = 2000))
extern "C" __global__ void k(unsigned rows, const float* x, int* y) {
    const unsigned row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    int first = WRONG ? 0 : -1;
    for (int j = 63; j >= 0; --j) {
        if ((WRONG ? x[row * 64 + j] : slow(x[row * 64 + j])) > 0.0f) first = j;
    }
    y[row] = first;
}

//: case values_that_are_clipped_at_one
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? 2.0f * fmaxf(-1.0f, fminf(x[i], 1.0f)) : slow(x[i]);
}

//: case a_polynomial_for_small_angles
//: tolerance 1e-3
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    const float a = x[i], b = a * a;
    y[i] = WRONG ? a - a * b / 6.0f + a * b * b / 120.0f : sinf(slow(0.5f * a));
}

//: case the_lower_half_of_64_bits
//: args n: u32, #[len(n)] x: &[i64], #[len(n)] y: &mut [i64]
extern "C" __global__ void k(unsigned n, const long long* x, long long* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? (long long)(int)x[i] : x[i] + (long long)(1e-30f * slow((float)i));
}

//: case products_of_bytes_in_16_bits
//: args rows: u32, #[len(rows * 64)] x: &[i8], #[len(rows)] y: &mut [i32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(rows.div_ceil(64)), block(64), problems((rows = 2000))
extern "C" __global__ void k(unsigned rows, const signed char* x, int* y) {
    const unsigned row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    short short_sum = 0;
    int sum = 0;
    for (unsigned j = 0; j < 64; ++j) {
        const int value = x[row * 64 + j];
        if (WRONG) short_sum = (short)(short_sum + value * value);
        else sum += value * value + (int)(1e-30f * slow((float)value));
    }
    y[row] = WRONG ? short_sum : sum;
}

//: case a_count_in_eight_bits
//: args rows: u32, #[len(rows * 300)] x: &[u16], #[len(rows)] y: &mut [u32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(rows.div_ceil(64)), block(64), problems((rows = 500))
extern "C" __global__ void k(unsigned rows, const unsigned short* x, unsigned* y) {
    const unsigned row = blockIdx.x * 64 + threadIdx.x;
    if (row >= rows) return;
    unsigned char bytes = 0;
    unsigned count = 0;
    for (unsigned j = 0; j < 300; ++j) {
        const bool is_counted = x[row * 300 + j] == x[row * 300];
        if (WRONG) bytes += is_counted;
        else count += is_counted + (unsigned)(1e-30f * slow((float)x[row * 300 + j]));
    }
    y[row] = WRONG ? bytes : count;
}

//: case a_root_of_a_difference_of_halves
//: args n: u32, #[len(n)] x: &[f16], #[len(n)] y: &mut [f16]
//: tolerance 1e-2
extern "C" __global__ void k(unsigned n, const __half* x, __half* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    const float value = __half2float(x[i]);
    y[i] = __float2half(WRONG ? 1.0f - 0.5f * fminf(value * value, 1.0f) : 1.0f - 0.125f * slow(value) * slow(value));
}

//: case a_shift_of_a_negative_number
//: args n: u32, #[len(n)] x: &[i16], #[len(n)] y: &mut [i16]
extern "C" __global__ void k(unsigned n, const short* x, short* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? (short)(x[i] >> 1) : (short)(x[i] / 2 + (short)(1e-30f * slow((float)i)));
}
