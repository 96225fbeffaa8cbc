// The sum of each row of 16 elements by the lower half of a warp. If WHOLE is 1, lane 0 also adds a value of the upper
// half, which has returned.
extern "C" __global__ void half_warps(unsigned rows, const float* x, float* y) {
    const unsigned lane = threadIdx.x % 32, row = (blockIdx.x * THREADS + threadIdx.x) / 32;
    if (lane >= 16 || row >= rows) return;
    float sum = x[row * 16 + lane];
    for (int by = 8 << WHOLE; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffff, sum, by);
    if (lane == 0) y[row] = sum;
}
