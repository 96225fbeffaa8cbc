// c = a + b, ITEMS elements a thread. THREADS: threads of a block.
extern "C" __global__ void vector_add(unsigned int n, const float* a, const float* b, float* c) {
    unsigned int first = (blockIdx.x * THREADS + threadIdx.x) * ITEMS;
    for (unsigned int i = first; i < first + ITEMS && i < n; ++i) c[i] = a[i] + b[i];
}
