#pragma once
// Convolution with a filter that is symmetric or antisymmetric around its middle. Both halves are processed at once:
// for each tap k, `fold` combines the samples 1 + STEP * k positions ahead and behind into one number. The product of
// this number and the tap is added to the sum.
//
// The kernel's parameters:
//   THREADS      threads of a block
//   ITEMS        samples per thread; a block processes THREADS * ITEMS neighbouring samples
//   SPREAD       the samples of a thread: SPREAD_strided, every THREADS-th sample; SPREAD_contiguous, neighbouring
//                samples
//   STAGED_TAPS  taps that are staged in shared memory at once, with the samples that they need; 0 for no staging
//   UNROLL       taps between two loop checks

// The index in the block of one of a thread's samples.
static __device__ __forceinline__ int place_of(int item)
{
    return SPREAD == SPREAD_strided ? item * THREADS + (int)threadIdx.x : (int)threadIdx.x * ITEMS + item;
}

// Adds the products of `count` taps to the sums. `first` is the block's first sample. `signal.at(n)` returns any
// sample, also before the first and after the last one. `signal.from[n]` is valid only from 0 to samples - 1.
template <int STEP, class Signal, class Fold>
static __device__ __forceinline__ void add_folded(float (&sums)[ITEMS], const Signal& signal, int first,
                                                  const float* __restrict__ taps, unsigned int count, Fold fold)
{
#if STAGED_TAPS > 0
    constexpr int before = STEP * (STAGED_TAPS - 1);
    constexpr int span = THREADS * ITEMS + before;
    float* ahead = kiln::dynamic_shared<float>();
    float* behind = ahead + span;
    float* held = behind + span;
    for (unsigned int from = 0; from < count; from += STAGED_TAPS) {
        const unsigned int here = count - from < STAGED_TAPS ? count - from : STAGED_TAPS;
        const int nearest = 1 + STEP * (int)from;
        for (int i = threadIdx.x; i < span; i += THREADS) {
            ahead[i] = signal.at(first + nearest + i);
            behind[i] = signal.at(first - nearest - before + i);
        }
        for (unsigned int i = threadIdx.x; i < here; i += THREADS) {
            held[i] = taps[from + i];
        }
        __syncthreads();
#pragma unroll UNROLL
        for (unsigned int k = 0; k < here; ++k) {
            const float tap = held[k];
            const float* to_ahead = ahead + STEP * k;
            const float* to_behind = behind + before - STEP * k;
#pragma unroll
            for (int item = 0; item < ITEMS; ++item) {
                sums[item] += tap * fold(to_ahead[place_of(item)], to_behind[place_of(item)]);
            }
        }
        __syncthreads();
    }
#else
    const int farthest = 1 + STEP * ((int)count - 1);
    const int own = first + place_of(0);
    if (own >= farthest && first + place_of(ITEMS - 1) + farthest < signal.samples) {
        const float* __restrict__ here = signal.from + own;
#pragma unroll UNROLL
        for (unsigned int k = 0; k < count; ++k) {
            const float tap = taps[k];
            const int far = 1 + STEP * (int)k;
#pragma unroll
            for (int item = 0; item < ITEMS; ++item) {
                const int apart = place_of(item) - place_of(0);
                sums[item] += tap * fold(here[apart + far], here[apart - far]);
            }
        }
        return;
    }
    for (unsigned int k = 0; k < count; ++k) {
        const int far = 1 + STEP * (int)k;
#pragma unroll
        for (int item = 0; item < ITEMS; ++item) {
            const int at = first + place_of(item);
            sums[item] += taps[k] * fold(signal.at(at + far), signal.at(at - far));
        }
    }
#endif
}

struct Symmetric {
    __device__ __forceinline__ float operator()(float ahead, float behind) const { return ahead + behind; }
};
struct Antisymmetric {
    __device__ __forceinline__ float operator()(float ahead, float behind) const { return behind - ahead; }
};
