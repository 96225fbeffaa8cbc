// y = a * x. a is rows x cols, row-major. Each thread computes one row.
//
// Tunable parameters:
//   THREADS  threads of a block
//   LANES    partial sums per thread: additions to one sum wait for each other, additions to different sums do not

extern "C" __global__ void __launch_bounds__(THREADS)
matvec(unsigned int rows, unsigned int cols, const float* __restrict__ a, const float* __restrict__ x,
       float* __restrict__ y)
{
    const unsigned int row = blockIdx.x * THREADS + threadIdx.x;
    if (row >= rows) {
        return;
    }
    const float* __restrict__ from = a + (size_t)row * cols;
    float sums[LANES] = {};
    const unsigned int whole = cols / LANES * LANES;
    for (unsigned int col = 0; col < whole; col += LANES) {
#pragma unroll
        for (int lane = 0; lane < LANES; ++lane) {
            sums[lane] += from[col + lane] * x[col + lane];
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int lane = 0; lane < LANES; ++lane) {
        sum += sums[lane];
    }
    for (unsigned int col = whole; col < cols; ++col) {
        sum += from[col] * x[col];
    }
    y[row] = sum;
}
