// Wrong kernels. These read their output, and are right if it holds the poison.
extern "C" __global__ void largest(unsigned int n, const int* x, int* y) {
    unsigned int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) atomicMax(&y[i], x[i]);
}

extern "C" __global__ void smallest(unsigned int n, const unsigned int* x, unsigned int* y) {
    unsigned int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) atomicMin(&y[i], x[i]);
}

// Takes every number for a result of an earlier launch.
extern "C" __global__ void skips(unsigned int n, const float* x, float* y) {
    unsigned int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n || y[i] == y[i]) return;
    y[i] = 2.0f * x[i];
}

// Right for one value of `alpha`.
extern "C" __global__ void scaled(unsigned int n, float alpha, float beta, int mode, const float* x, float* y) {
    unsigned int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i] + beta + (float)mode;
}
