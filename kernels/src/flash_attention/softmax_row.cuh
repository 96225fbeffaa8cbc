#pragma once
// The softmax of a row that comes piece by piece (M. Milakov and N. Gimelshein, arXiv:1805.02867): what was added up is
// scaled anew whenever the maximum grows.

// Below every score, so that nothing is ever subtracted from infinity.
static __device__ constexpr float LEAST = -3.4e38f;

struct SoftmaxRow {
    float largest;
    float sum;

    __device__ __forceinline__ static SoftmaxRow empty() { return SoftmaxRow{LEAST, 0.0f}; }

    // Takes the maximum of the next piece in; gives the factor for what was added up so far.
    __device__ __forceinline__ float grow(float next)
    {
        const float before = largest;
        largest = fmaxf(largest, next);
        const float factor = __expf(before - largest);
        sum *= factor;
        return factor;
    }
};
