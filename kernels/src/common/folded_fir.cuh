#pragma once
// Convolution with taps that mirror each other around the middle, for both halves at once: to every sum of a thread the
// products of tap k with what lies 1 + STEP * k samples ahead and behind, folded into one number.
//
// The kernel's parameters:
//   THREADS      threads of a block
//   ITEMS        samples of a thread; a block has THREADS * ITEMS neighbouring ones
//   SPREAD       which of them are a thread's: SPREAD_strided, every THREADS-th, or SPREAD_contiguous, neighbours
//   STAGED_TAPS  taps that are staged in shared memory at once, with the signal under them; 0: none is staged
//   UNROLL       taps between two loop checks

// The place of one of a thread's samples in its block.
static __device__ __forceinline__ int place_of(int item)
{
    return SPREAD == SPREAD_strided ? item * THREADS + (int)threadIdx.x : (int)threadIdx.x * ITEMS + item;
}

// Adds `count` taps. `first` is the block's first sample. A signal gives any sample, also before the first and after the
// last, with signal.at(n), and those from 0 to samples - 1 with signal.from[n].
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
