// y = x, VECTOR_WIDTH elements a thread.
extern "C" __global__ void aligned(unsigned int n, const float* x, float* y) {
    unsigned int i = (blockIdx.x * 64 + threadIdx.x) * VECTOR_WIDTH;
#if VECTOR_WIDTH == 4
    if (i + 3 < n) { *(float4*)(y + i) = *(const float4*)(x + i); return; }
#endif
    for (unsigned int end = i + VECTOR_WIDTH; i < end && i < n; ++i) y[i] = x[i];
}
