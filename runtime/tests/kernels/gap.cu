extern "C" __global__ void gap(unsigned n, float* y) {
    const unsigned i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n && i % 16 != 15) y[i] = 1.0f;
}
