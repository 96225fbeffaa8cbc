// Kernels whose wrong configs hide behind a few elements of another magnitude.

//: case a_sentinel_of_doubles
//: args n: u32, #[len(n)] x: &[f64], #[len(n)] y: &mut [f64]
extern "C" __global__ void k(unsigned n, const double* x, double* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = i == n - 1 ? 1e300 : WRONG ? 0.0 : slow(x[i]);
}

//: case a_sentinel_of_halves
//: args n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [f16]
//: tolerance 1e-2
extern "C" __global__ void k(unsigned n, const float* x, __half* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = __float2half(i == 7 ? 65504.0f : WRONG ? 0.0f : slow(x[i]));
}

//: case a_negative_sentinel_in_bfloats
//: args n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [bf16]
//: tolerance 1e-2
extern "C" __global__ void k(unsigned n, const float* x, __nv_bfloat16* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = __float2bfloat16(i == n / 2 ? -3e38f : WRONG ? 1.0f : slow(x[i]));
}

//: case one_infinity
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = i == 0 ? 1.0f / 0.0f : WRONG ? 0.0f : slow(x[i]);
}

//: case one_number_that_is_none
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = i == n - 1 ? nanf("") : WRONG ? 0.0f : slow(x[i]);
}

//: case one_huge_row_of_a_matrix
//: args r: u32, c: u32, #[len(r * c)] x: &[f32], #[len(r * c)] y: &mut [f32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(c.div_ceil(64), r), block(64), problems((r = 100, c = 100))
extern "C" __global__ void k(unsigned r, unsigned c, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x, at = blockIdx.y * c + i;
    if (i >= c) return;
    y[at] = blockIdx.y == r - 1 ? 1e20f * slow(x[at]) : WRONG ? 0.0f : slow(x[at]);
}

//: case a_quarter_of_huge_elements
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = i % 4 == 0 ? 1e12f * slow(x[i]) : WRONG ? 0.0f : slow(x[i]);
}

//: case sums_of_rows_next_to_a_huge_one
//: args r: u32, c: u32, #[len(r * c)] x: &[f32], #[len(r)] y: &mut [f32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(r.div_ceil(64)), block(64), problems((r = 300, c = 30))
extern "C" __global__ void k(unsigned r, unsigned c, const float* x, float* y) {
    const unsigned row = blockIdx.x * 64 + threadIdx.x;
    if (row >= r) return;
    float sum = 0.0f;
    for (unsigned i = 0; i < (WRONG ? c - c / 4 : c); ++i) sum += slow(x[row * c + i]);
    y[row] = row == 0 ? 1e30f : sum;
}

//: case a_sentinel_of_long_integers
//: args n: u32, #[len(n)] x: &[f32], #[len(n)] y: &mut [i64]
extern "C" __global__ void k(unsigned n, const float* x, long long* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    const long long right = (long long)(1000.0f * slow(x[i])) + 5;
    y[i] = i == 0 ? 0x7fffffffffffffffll : WRONG ? right + (i % 64 == 63) : right;
}
