#pragma once
// The softmax of a row that comes piece by piece (M. Milakov and N. Gimelshein, arXiv:1805.02867): what was added up is
// scaled anew whenever the maximum grows. Scores are in units of log 2: weights are powers of two.

// Below every score, so that nothing is ever subtracted from infinity.
static __device__ constexpr float LEAST = -3.4e38f;

static __device__ constexpr float LOG2_E = 1.44269504f;

struct SoftmaxRow {
    float largest;
    float sum;

    __device__ __forceinline__ static SoftmaxRow empty() { return SoftmaxRow{LEAST, 0.0f}; }

    // Takes the maximum of the next piece in; gives the factor for what was added up so far.
    __device__ __forceinline__ float grow(float next)
    {
        const float before = largest;
        largest = fmaxf(largest, next);
        const float factor = kiln::fast_exp2(before - largest);
        sum *= factor;
        return factor;
    }
};
