// y[row] is the square root of the sum of squares of a row of x, which is rows x cols, row-major. Each block computes
// one row.
//
// Tunable parameters:
//   THREADS  threads of a block, any number

extern "C" __global__ void __launch_bounds__(THREADS)
row_norms(unsigned int rows, unsigned int cols, const float* __restrict__ x, float* __restrict__ y)
{
    __shared__ float partial[THREADS];
    const unsigned int thread = threadIdx.x;
    const float* __restrict__ from = x + (size_t)blockIdx.x * cols;
    float sum = 0.0f;
    for (unsigned int col = thread; col < cols; col += THREADS) {
        sum += from[col] * from[col];
    }
    partial[thread] = sum;
    __syncthreads();
    for (unsigned int width = THREADS; width > 1;) {
        const unsigned int half = (width + 1) / 2;
        if (thread < width - half) {
            partial[thread] += partial[thread + half];
        }
        __syncthreads();
        width = half;
    }
    if (thread == 0) {
        y[blockIdx.x] = sqrtf(partial[0]);
    }
}
