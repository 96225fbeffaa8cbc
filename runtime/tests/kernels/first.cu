extern "C" __global__ void first(unsigned n, unsigned* taken, unsigned* winner) {
    if (blockIdx.x * THREADS + threadIdx.x >= n) return;
    if (atomicAdd(taken, 1u) == 0) *winner = threadIdx.x;
}
