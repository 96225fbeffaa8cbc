// y = share * a + (1 - share) * b over n floats.
//
// Tunable parameters:
//   THREADS  threads of a block
//   ITEMS    elements of a thread, THREADS apart

extern "C" __global__ void __launch_bounds__(THREADS)
mix(unsigned int n, float share, const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ y)
{
    const unsigned int first = blockIdx.x * THREADS * ITEMS + threadIdx.x;
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const unsigned int i = first + item * THREADS;
        if (i < n) {
            y[i] = share * a[i] + (1.0f - share) * b[i];
        }
    }
}
