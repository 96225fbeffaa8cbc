#pragma once
// The simplest version: a block of 128 threads for each query. In each round, a thread computes the score of one key.
// It then adds the weighted values of all keys of the round, in its columns of the output. There are at most 256
// columns.

#include "kiln.cuh"
#include "softmax_row.cuh"

extern "C" __global__ void __launch_bounds__(128)
attention_naive(unsigned int heads, unsigned int seq, unsigned int dim, unsigned int causal, const __half* __restrict__ q,
                const __half* __restrict__ k, const __half* __restrict__ v, __half* __restrict__ out)
{
    __shared__ float weights[128];
    const unsigned int query = blockIdx.x, thread = threadIdx.x;
    const size_t head = (size_t)blockIdx.y * seq * dim;
    q += head + (size_t)query * dim;
    k += head;
    v += head;
    out += head + (size_t)query * dim;
    const unsigned int keys = causal == 2 ? query + 1 : seq;
    const float scale = rsqrtf((float)dim) * LOG2_E;

    SoftmaxRow row = SoftmaxRow::empty();
    float sum[2] = {};
    for (unsigned int first = 0; first < keys; first += 128) {
        const unsigned int key = first + thread;
        float score = LEAST;
        if (key < keys) {
            score = 0.0f;
            for (unsigned int i = 0; i < dim; ++i) {
                score += __half2float(q[i]) * __half2float(k[(size_t)key * dim + i]);
            }
            score *= scale;
        }
        const float factor = row.grow(kiln::block_max<128>(score));
        weights[thread] = key < keys ? kiln::fast_exp2(score - row.largest) : 0.0f;
        __syncthreads();
        const unsigned int here = keys - first < 128 ? keys - first : 128;
        for (int part = 0; part < 2; ++part) {
            const unsigned int col = thread + part * 128;
            sum[part] *= factor;
            for (unsigned int i = 0; col < dim && i < here; ++i) {
                sum[part] += weights[i] * __half2float(v[(size_t)(first + i) * dim + col]);
            }
        }
        for (unsigned int i = 0; i < here; ++i) {
            row.sum += weights[i];
        }
        __syncthreads();
    }
    for (int part = 0; part < 2; ++part) {
        const unsigned int col = thread + part * 128;
        if (col < dim) {
            out[col] = __float2half_rn(sum[part] / row.sum);
        }
    }
}
