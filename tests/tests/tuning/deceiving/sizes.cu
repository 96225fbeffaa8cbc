// Kernels whose wrong configs lose elements at sizes that are not the tuned one.

//: case the_ragged_end_of_a_fixed_grid
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(8), block(64), problems((n = 16384))
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned end = WRONG ? n / 512 * 512 : n;
    for (unsigned i = blockIdx.x * 64 + threadIdx.x; i < end; i += 512) y[i] = WRONG ? 2.0f * x[i] : slow(x[i]);
}

//: case the_last_rows_of_a_matrix
//: args r: u32, c: u32, #[len(r * c)] x: &[f32], #[len(r * c)] y: &mut [f32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(c.div_ceil(16), r.div_ceil(4)), block(16, 4), problems((r = 64, c = 64))
extern "C" __global__ void k(unsigned r, unsigned c, const float* x, float* y) {
    const unsigned i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y;
    if (i >= c || j >= (WRONG ? r / 4 * 4 : r)) return;
    y[j * c + i] = WRONG ? 2.0f * x[j * c + i] : slow(x[j * c + i]);
}

//: case the_last_of_an_odd_batch
//: args b: u32, n: u32, #[len(b * n)] x: &[f32], #[len(b * n)] y: &mut [f32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(n.div_ceil(64), 1, b), block(64), problems((b = 4, n = 1000))
extern "C" __global__ void k(unsigned b, unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x, at = blockIdx.z * n + i;
    if (i >= n || (WRONG && blockIdx.z >= b / 2 * 2)) return;
    y[at] = WRONG ? 2.0f * x[at] : slow(x[at]);
}

//: case a_single_element
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? (n == 1 ? 0.0f : 2.0f * x[i]) : slow(x[i]);
}

//: case fewer_elements_than_threads
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    y[i] = WRONG ? 2.0f * x[n < 64 ? 0 : i] : slow(x[i]);
}

//: case exact_multiples_of_a_tile
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(n.div_ceil(64)), block(64), problems((n = 10001))
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x, last = n % 64 == 0 ? gridDim.x - 1 : gridDim.x;
    if (i >= n || (WRONG && blockIdx.x >= last)) return;
    y[i] = WRONG ? 2.0f * x[i] : slow(x[i]);
}

//: case columns_that_four_does_not_divide
//: args r: u32, c: u32, #[len(r * c)] x: &[f32], #[len(r)] y: &mut [f32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(r), block(1), problems((r = 50, c = 400))
extern "C" __global__ void k(unsigned r, unsigned c, const float* x, float* y) {
    float sum = 0.0f;
    for (unsigned i = 0; i < (WRONG ? c / 4 * 4 : c); ++i) {
        sum += WRONG ? 2.0f * x[blockIdx.x * c + i] : slow(x[blockIdx.x * c + i]);
    }
    y[blockIdx.x] = sum;
}

//: case more_elements_than_one_sweep
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(128), block(64), problems((n = 5000))
extern "C" __global__ void k(unsigned n, const float* x, float* y) {
    for (unsigned i = blockIdx.x * 64 + threadIdx.x; i < n; i += 128 * 64) {
        y[i] = WRONG ? 2.0f * x[i] : slow(x[i]);
        if (WRONG) return;
    }
}

//: case a_transpose_of_squares
//: args r: u32, c: u32, #[len(r * c)] x: &[f32], #[len(r * c)] y: &mut [f32]
//: spec params(WRONG in [false, true]), baseline(WRONG = false), grid(c.div_ceil(16), r.div_ceil(4)), block(16, 4), problems((r = 96, c = 96))
extern "C" __global__ void k(unsigned r, unsigned c, const float* x, float* y) {
    const unsigned i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 4 + threadIdx.y;
    if (i >= c || j >= r) return;
    if (WRONG) y[(i * c + j) % (r * c)] = 2.0f * x[j * c + i];
    else y[i * r + j] = slow(x[j * c + i]);
}
