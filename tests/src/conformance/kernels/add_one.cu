// x += 1
extern "C" __global__ void add_one(unsigned int n, int* x) {
    unsigned int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) x[i] += 1;
}
