// y = factor * x over n elements of T: float, __half or __nv_bfloat16.
//
// Tunable parameters:
//   THREADS       threads of a block
//   VECTOR_WIDTH  elements that a thread moves at once: 2, 4 or 8

struct __align__(sizeof(T) * VECTOR_WIDTH) Run {
    T value[VECTOR_WIDTH];
};

extern "C" __global__ void __launch_bounds__(THREADS)
scale(unsigned int n, float factor, const T* __restrict__ x, T* __restrict__ y)
{
    const size_t at = (size_t)(blockIdx.x * THREADS + threadIdx.x) * VECTOR_WIDTH;
    if (at + VECTOR_WIDTH <= n) {
        Run run = *reinterpret_cast<const Run*>(x + at);
#pragma unroll
        for (int j = 0; j < VECTOR_WIDTH; ++j) {
            run.value[j] = (T)(factor * (float)run.value[j]);
        }
        *reinterpret_cast<Run*>(y + at) = run;
    } else {
        for (size_t i = at; i < n; ++i) {
            y[i] = (T)(factor * (float)x[i]);
        }
    }
}
