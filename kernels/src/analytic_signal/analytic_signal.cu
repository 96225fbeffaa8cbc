// Phase and amplitude of the analytic signal x + i H(x) of every row. The Hilbert transform H(x) is a filter that has
// taps only at odd distances: H(x)[n] = sum of taps[k] (x[n - d] - x[n + d]) with d = 2 k + 1. A row is extended with
// zeros to `period` samples and then continued periodically, as in a Fourier transform of that length.
//
// A block processes THREADS * ITEMS neighbouring samples of one row.
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

// The simplest version: one thread per sample, tap by tap.
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
