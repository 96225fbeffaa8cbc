// total[i] += x[i], ITEMS elements a thread.
extern "C" __global__ void accumulate(unsigned int n, const int* x, int* total) {
    unsigned int first = (blockIdx.x * blockDim.x + threadIdx.x) * ITEMS;
    for (unsigned int i = first; i < first + ITEMS && i < n; ++i) total[i] += x[i];
}

// The simplest version: its baseline, and its reference.
extern "C" __global__ void accumulate_simply(unsigned int n, const int* x, int* total) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) total[i] += x[i];
}
