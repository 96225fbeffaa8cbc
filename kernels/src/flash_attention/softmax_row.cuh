#pragma once
// The softmax of a row whose scores arrive in pieces (M. Milakov and N. Gimelshein, arXiv:1805.02867). The sums so far
// are rescaled whenever the maximum grows. Scores are in units of log 2, so weights are powers of two.

// The maximum of an empty row. It is finite, so that nothing is ever subtracted from infinity.
static __device__ constexpr float LEAST = -3.4e38f;

static __device__ constexpr float LOG2_E = 1.44269504f;

struct SoftmaxRow {
    float largest;
    float sum;

    __device__ __forceinline__ static SoftmaxRow empty() { return SoftmaxRow{LEAST, 0.0f}; }

    // Updates the maximum with that of the next piece. Returns the factor by which the sums so far must be multiplied.
    __device__ __forceinline__ float grow(float next)
    {
        const float before = largest;
        largest = fmaxf(largest, next);
        const float factor = kiln::fast_exp2(before - largest);
        sum *= factor;
        return factor;
    }
};
