// p[i] = exp(log_p[label[i]]) over n samples: the probability that a table gives each sample's class.
//
// Tunable parameters:
//   THREADS  threads of a block
//   ITEMS    samples of a thread, THREADS apart

extern "C" __global__ void __launch_bounds__(THREADS)
likelihood(unsigned int n, unsigned int classes, const unsigned int* __restrict__ label,
           const float* __restrict__ log_p, float* __restrict__ p)
{
    const unsigned int first = blockIdx.x * THREADS * ITEMS + threadIdx.x;
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const unsigned int i = first + item * THREADS;
        if (i < n) {
            // Labels are below `classes`. The caller guarantees this, and `#[fill(below(classes))]` generates such
            // labels.
            p[i] = __expf(log_p[label[i]]);
        }
    }
}
