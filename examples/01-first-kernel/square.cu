// y = x * x over n floats, one element per thread.
//
// Tunable parameters:
//   THREADS  threads of a block

extern "C" __global__ void square(unsigned int n, const float* x, float* y)
{
    const unsigned int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) {
        y[i] = x[i] * x[i];
    }
}
