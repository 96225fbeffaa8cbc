// Phase and amplitude of the analytic signal of every row: x + i H(x), where the Hilbert transform H(x) is a filter with
// odd taps alone, H(x)[n] = sum of taps[k] (x[n - d] - x[n + d]) with d = 2 k + 1. A row is followed by zeros up to `period`
// samples, and then by itself again, as a Fourier transform of that length sees it.
//
// A block is of one row, and of THREADS * ITEMS neighbouring samples.
//
// Tunable parameters: THREADS, ITEMS, SPREAD, STAGED_TAPS and UNROLL, as in folded_fir.cuh.

#include "kiln.cuh"
#include "../common/folded_fir.cuh"

struct Periodic {
    const float* __restrict__ from;
    int samples, period;

    __device__ __forceinline__ float at(int n) const
    {
        int place = n;
        if (place < 0 || place >= period) {
            place %= period;
            place += place < 0 ? period : 0;
        }
        return place < samples ? from[place] : 0.0f;
    }
};

extern "C" __global__ void __launch_bounds__(THREADS)
analytic_signal(unsigned int rows, unsigned int samples, unsigned int period, unsigned int pairs,
                const float* __restrict__ signal, const float* __restrict__ taps, float* __restrict__ phase,
                float* __restrict__ amp)
{
    const size_t row = blockIdx.y;
    const Periodic x = {signal + row * samples, (int)samples, (int)(period > samples ? period : samples)};
    const int first = (int)(blockIdx.x * (THREADS * ITEMS));

    float sums[ITEMS];
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        sums[item] = 0.0f;
    }
    add_folded<2>(sums, x, first, taps, pairs, Antisymmetric());

#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const unsigned int at = (unsigned int)(first + place_of(item));
        if (at < samples) {
            const float real = x.from[at];
            phase[row * samples + at] = atan2f(sums[item], real);
            amp[row * samples + at] = sqrtf(real * real + sums[item] * sums[item]);
        }
    }
}

// A thread a sample, tap by tap.
extern "C" __global__ void __launch_bounds__(128)
analytic_signal_simple(unsigned int rows, unsigned int samples, unsigned int period, unsigned int pairs,
                       const float* __restrict__ signal, const float* __restrict__ taps, float* __restrict__ phase,
                       float* __restrict__ amp)
{
    const size_t row = blockIdx.y;
    const int n = (int)(blockIdx.x * 128 + threadIdx.x);
    if (n >= (int)samples) {
        return;
    }
    const Periodic x = {signal + row * samples, (int)samples, (int)(period > samples ? period : samples)};
    float imaginary = 0.0f;
    for (int k = 0; k < (int)pairs; ++k) {
        imaginary += taps[k] * (x.at(n - 2 * k - 1) - x.at(n + 2 * k + 1));
    }
    const float real = x.from[n];
    phase[row * samples + n] = atan2f(imaginary, real);
    amp[row * samples + n] = sqrtf(real * real + imaginary * imaginary);
}
