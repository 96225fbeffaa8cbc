extern "C" __global__ void whole(unsigned, float* y) {
    y[blockIdx.x * THREADS + threadIdx.x] = 1.0f;
}
