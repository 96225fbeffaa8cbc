#pragma once
// Attention for processors that run threads one after another. A block is one thread, which computes QUERIES queries.
// Vectors run along the queries while scores are computed, and along the dimensions while values are added, so that the
// elements of a vector are never added to each other.
//
// Shared memory: 2 * (BLOCK_K + QUERIES) * HEAD_DIM floats for keys, values, queries and sums.

#include "keys.cuh"
#include "softmax_row.cuh"

// The number of floats in a pair of the processor's vector registers, and the number of pairs that hold sums at once.
#if defined(__AVX512F__)
static __device__ constexpr int PAIR = 32, PAIRS = 8;
#else
static __device__ constexpr int PAIR = 16, PAIRS = 4;
#endif

// One float per query.
using PerQuery = kiln::vec<float, QUERIES>;

// Writes the first `here` rows of a tile as floats, and zeros for the other rows.
static __device__ __forceinline__ void widen(float* to, const __half* from, unsigned int here)
{
    unsigned int i = 0;
    for (; i < here * HEAD_DIM; i += PAIR) {
        kiln::store_aligned(to + i, kiln::to_float(kiln::load_aligned<PAIR>(from + i)));
    }
    for (; i < BLOCK_K * HEAD_DIM; i += PAIR) {
        kiln::store_aligned(to + i, kiln::splat<PAIR>(0.0f));
    }
}

// Computes the scores of the first `here` keys of a tile. If a query must not attend to a key, the score is LEAST.
static __device__ __forceinline__ void score(PerQuery* scores, const PerQuery* queries, const float* k_tile,
                                             unsigned int here, unsigned int first_query, unsigned int first_key,
                                             unsigned int causal)
{
    constexpr int KEYS = PAIRS * PAIR / QUERIES;
    for (unsigned int key = 0; key < here; key += KEYS) {
        PerQuery sums[KEYS];
#pragma unroll
        for (int i = 0; i < KEYS; ++i) {
            sums[i] = kiln::splat<QUERIES>(0.0f);
        }
        for (int d = 0; d < HEAD_DIM; ++d) {
#pragma unroll
            for (int i = 0; i < KEYS; ++i) {
                kiln::add_product(sums[i], k_tile[(key + i) * HEAD_DIM + d], queries[d]);
            }
        }
#pragma unroll
        for (int i = 0; i < KEYS; ++i) {
            scores[key + i] = sums[i];
        }
    }
    for (unsigned int key = 0; causal == 2 && key < here; ++key) {
        for (int i = 0; i < QUERIES; ++i) {
            if (first_query + i < first_key + key) {
                scores[key][i] = LEAST;
            }
        }
    }
}

// Scales the sums by `factors`, and adds the first `here` values of a tile, each times its weight.
static __device__ __forceinline__ void add_values(float (*sums)[HEAD_DIM], const PerQuery& factors, const PerQuery* weights,
                                                  const float* v_tile, unsigned int here)
{
    using Columns = kiln::vec<float, PAIR>;
    for (int query = 0; query < QUERIES; query += PAIRS) {
        for (int col = 0; col < HEAD_DIM; col += PAIR) {
            Columns added[PAIRS];
#pragma unroll
            for (int i = 0; i < PAIRS; ++i) {
                added[i] = kiln::splat<PAIR>(0.0f);
                kiln::add_product(added[i], factors[query + i], kiln::load_aligned<PAIR>(sums[query + i] + col));
            }
            for (unsigned int key = 0; key < here; ++key) {
                const Columns values = kiln::load_aligned<PAIR>(v_tile + key * HEAD_DIM + col);
#pragma unroll
                for (int i = 0; i < PAIRS; ++i) {
                    kiln::add_product(added[i], weights[key][query + i], values);
                }
            }
#pragma unroll
            for (int i = 0; i < PAIRS; ++i) {
                kiln::store_aligned(sums[query + i] + col, added[i]);
            }
        }
    }
}

static __device__ __forceinline__ void attend(unsigned int seq, unsigned int causal, const __half* q, const __half* k,
                                              const __half* v, __half* out)
{
    static_assert(THREADS == 1 && STAGES == 1, "one thread widens keys and values when it needs them");
    float* const k_tile = kiln::dynamic_shared<float>();
    float* const v_tile = k_tile + BLOCK_K * HEAD_DIM;
    PerQuery* const queries = (PerQuery*)(v_tile + BLOCK_K * HEAD_DIM);
    float (*const sums)[HEAD_DIM] = (float (*)[HEAD_DIM])(queries + HEAD_DIM);
    const unsigned int first_query = blockIdx.x * QUERIES;
    const unsigned int count = seq - first_query < QUERIES ? seq - first_query : QUERIES;
    const unsigned int keys = keys_of(first_query + count, seq, causal);
    const float scale = rsqrtf((float)HEAD_DIM) * LOG2_E;

    for (unsigned int i = 0; i < QUERIES; ++i) {
        for (int d = 0; d < HEAD_DIM; ++d) {
            queries[d][i] = i < count ? __half2float(q[(size_t)(first_query + i) * HEAD_DIM + d]) * scale : 0.0f;
            sums[i][d] = 0.0f;
        }
    }
    PerQuery largest = kiln::splat<QUERIES>(LEAST), total = kiln::splat<QUERIES>(0.0f);
    for (unsigned int first = 0; first < keys; first += BLOCK_K) {
        const unsigned int here = keys - first < BLOCK_K ? keys - first : BLOCK_K;
        widen(k_tile, k + (size_t)first * HEAD_DIM, here);
        widen(v_tile, v + (size_t)first * HEAD_DIM, here);
        PerQuery weights[BLOCK_K];
        score(weights, queries, k_tile, here, first_query, first, causal);

        PerQuery factors = largest;
        for (unsigned int key = 0; key < here; ++key) {
            KILN_EACH_ELEMENT
            for (int i = 0; i < QUERIES; ++i) {
                largest[i] = fmaxf(largest[i], weights[key][i]);
            }
        }
        KILN_EACH_ELEMENT
        for (int i = 0; i < QUERIES; ++i) {
            factors[i] = kiln::fast_exp2(factors[i] - largest[i]);
            total[i] *= factors[i];
        }
        for (unsigned int key = 0; key < here; ++key) {
            KILN_EACH_ELEMENT
            for (int i = 0; i < QUERIES; ++i) {
                weights[key][i] = kiln::fast_exp2(weights[key][i] - largest[i]);
                total[i] += weights[key][i];
            }
        }
        add_values(sums, factors, weights, v_tile, here);
    }
    for (unsigned int i = 0; i < count; ++i) {
        const float scale = 1.0f / total[i];
        for (int d = 0; d < HEAD_DIM; d += PAIR) {
            kiln::vec<float, PAIR> columns = kiln::load_aligned<PAIR>(sums[i] + d);
            KILN_EACH_ELEMENT
            for (int j = 0; j < PAIR; ++j) {
                columns[j] *= scale;
            }
            kiln::store_aligned(out + (size_t)(first_query + i) * HEAD_DIM + d, kiln::from_float<__half>(columns));
        }
    }
}
