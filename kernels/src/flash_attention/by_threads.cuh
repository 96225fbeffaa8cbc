#pragma once
// Attention by fused multiply-adds. Each thread has one query, and keys and values are in shared memory as floats.
//
// Shared memory: 2 * BLOCK_K * HEAD_DIM floats.

#include "keys.cuh"
#include "softmax_row.cuh"

// The number of partial sums. They are separate, so that no addition waits for the previous one.
static __device__ constexpr int APART = 16;

static __device__ __forceinline__ float dot(const float* a, const float* b)
{
    float sums[APART] = {};
#pragma unroll
    for (int i = 0; i < HEAD_DIM; i += APART) {
#pragma unroll
        for (int j = 0; j < APART; ++j) {
            sums[j] += a[i + j] * b[i + j];
        }
    }
#pragma unroll
    for (int half = APART / 2; half > 0; half /= 2) {
#pragma unroll
        for (int j = 0; j < half; ++j) {
            sums[j] += sums[j + half];
        }
    }
    return sums[0];
}

static __device__ __forceinline__ void attend(unsigned int seq, unsigned int causal, const __half* q, const __half* k,
                                              const __half* v, __half* out)
{
    static_assert(QUERIES == 32, "a thread has one query");
    static_assert(STAGES == 1, "what is widened is not staged ahead");
    float* const k_tile = kiln::dynamic_shared<float>();
    float* const v_tile = k_tile + BLOCK_K * HEAD_DIM;
    const unsigned int block_first = blockIdx.x * THREADS, query = block_first + threadIdx.x;
    const unsigned int block_keys = keys_of(block_first + THREADS, seq, causal);
    const unsigned int keys = query < seq ? keys_of(query + 1, seq, causal) : 0;
    const float scale = rsqrtf((float)HEAD_DIM) * LOG2_E;

    float mine[HEAD_DIM], sum[HEAD_DIM];
#pragma unroll
    for (int i = 0; i < HEAD_DIM; ++i) {
        mine[i] = query < seq ? __half2float(q[(size_t)query * HEAD_DIM + i]) * scale : 0.0f;
        sum[i] = 0.0f;
    }
    SoftmaxRow row = SoftmaxRow::empty();
    for (unsigned int first = 0; first < block_keys; first += BLOCK_K) {
        widen_rows(k_tile, k, first, seq);
        widen_rows(v_tile, v, first, seq);
        __syncthreads();
        const unsigned int here = first < keys ? (keys - first < BLOCK_K ? keys - first : BLOCK_K) : 0;
        float weights[BLOCK_K];
        float largest = LEAST;
        for (unsigned int i = 0; i < here; ++i) {
            weights[i] = dot(mine, k_tile + i * HEAD_DIM);
            largest = fmaxf(largest, weights[i]);
        }
        const float factor = row.grow(largest);
#pragma unroll
        for (int d = 0; d < HEAD_DIM; ++d) {
            sum[d] *= factor;
        }
        for (unsigned int i = 0; i < here; ++i) {
            const float weight = kiln::fast_exp2(weights[i] - row.largest);
            row.sum += weight;
#pragma unroll
            for (int d = 0; d < HEAD_DIM; ++d) {
                sum[d] += weight * v_tile[i * HEAD_DIM + d];
            }
        }
        __syncthreads();
    }
    if (query < seq) {
#pragma unroll
        for (int i = 0; i < HEAD_DIM; ++i) {
            out[(size_t)query * HEAD_DIM + i] = __float2half_rn(sum[i] / row.sum);
        }
    }
}
