// Each element is stirred so many times that the time shows.
extern "C" __global__ void churn(unsigned int n, unsigned int rounds, unsigned int* x) {
    unsigned int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    unsigned int value = i;
    for (unsigned int round = 0; round < rounds; round++) value = value * 1664525u + 1013904223u;
    x[i] = value;
}
