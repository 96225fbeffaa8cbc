// Filters every channel with every band's zero-phase filter: y[n] = taps[0] x[n] + sum of taps[k] (x[n + k] + x[n -
// k]). Before its first and after its last sample, a signal is continued by its reflection through that sample.
//
// A block processes THREADS * ITEMS neighbouring samples of one channel, with the filter of one band.
//
// Tunable parameters: THREADS, ITEMS, SPREAD, STAGED_TAPS and UNROLL, as in folded_fir.cuh.

#include "kiln.cuh"
#include "../common/folded_fir.cuh"

struct Reflected {
    const float* __restrict__ from;
    int samples;

    __device__ __forceinline__ float at(int n) const
    {
        if (n < 0) {
            return 2.0f * from[0] - from[-n < samples ? -n : samples - 1];
        }
        if (n >= samples) {
            const int back = 2 * (samples - 1) - n;
            return 2.0f * from[samples - 1] - from[back > 0 ? back : 0];
        }
        return from[n];
    }
};

extern "C" __global__ void __launch_bounds__(THREADS)
fir_bandpass(unsigned int channels, unsigned int samples, unsigned int bands, unsigned int reach,
             const float* __restrict__ signal, const unsigned int* __restrict__ reaches, const float* __restrict__ taps,
             float* __restrict__ filtered)
{
    const unsigned int channel = blockIdx.y, band = blockIdx.z;
    const Reflected x = {signal + (size_t)channel * samples, (int)samples};
    const float* __restrict__ own = taps + (size_t)band * (reach + 1);
    const int first = (int)(blockIdx.x * (THREADS * ITEMS));

    float sums[ITEMS];
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        sums[item] = own[0] * x.at(first + place_of(item));
    }
    add_folded<1>(sums, x, first, own + 1, reaches[band] < reach ? reaches[band] : reach, Symmetric());

    float* __restrict__ to = filtered + ((size_t)band * channels + channel) * samples;
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const unsigned int at = (unsigned int)(first + place_of(item));
        if (at < samples) {
            to[at] = sums[item];
        }
    }
}

// The simplest version: one thread per sample, tap by tap.
extern "C" __global__ void __launch_bounds__(128)
fir_bandpass_simple(unsigned int channels, unsigned int samples, unsigned int bands, unsigned int reach,
                    const float* __restrict__ signal, const unsigned int* __restrict__ reaches,
                    const float* __restrict__ taps, float* __restrict__ filtered)
{
    const int n = (int)(blockIdx.x * 128 + threadIdx.x);
    if (n >= (int)samples) {
        return;
    }
    const Reflected x = {signal + (size_t)blockIdx.y * samples, (int)samples};
    const float* __restrict__ own = taps + (size_t)blockIdx.z * (reach + 1);
    const int last = (int)(reaches[blockIdx.z] < reach ? reaches[blockIdx.z] : reach);
    float sum = own[0] * x.from[n];
    for (int k = 1; k <= last; ++k) {
        sum += own[k] * (x.at(n + k) + x.at(n - k));
    }
    filtered[((size_t)blockIdx.z * channels + blockIdx.y) * samples + n] = sum;
}
