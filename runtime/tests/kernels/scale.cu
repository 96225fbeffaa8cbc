// y = factor * x in any real type, one element a thread.
extern "C" __global__ void scale(unsigned int n, float factor, const T* x, T* y) {
    unsigned int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = (T)(factor * (float)x[i]);
}
