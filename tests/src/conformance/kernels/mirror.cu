// y = x with every stretch of THREADS elements mirrored, plus 1000 times the block: through static and dynamic
// shared memory.
extern "C" __global__ void mirror(unsigned int n, const int* x, int* y) {
    __shared__ int held[THREADS];
    extern __shared__ int added[];
    unsigned int i = blockIdx.x * THREADS + threadIdx.x;
    held[threadIdx.x] = i < n ? x[i] : 0;
    added[threadIdx.x] = 1000 * (int)blockIdx.x;
    __syncthreads();
    unsigned int opposite = THREADS - 1 - threadIdx.x;
    if (i < n) y[i] = held[opposite] + added[opposite];
}
