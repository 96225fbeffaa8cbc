#pragma once
// Attention by tiles of 16 x 16. Each warp has QUERIES queries. Scores and weights stay in registers (FlashAttention-2,
// section 3.3): the tiles of scores become left tiles of the product with the values.
//
// Shared memory: STAGES * 2 * BLOCK_K * (HEAD_DIM + 8) halves for keys and values.

#include "keys.cuh"
#include "softmax_row.cuh"

static __device__ constexpr int LEADING = HEAD_DIM + 8;
static __device__ constexpr int STAGE = BLOCK_K * LEADING;
static __device__ constexpr int STRIPS = QUERIES / 16, KEY_TILES = BLOCK_K / 16, DIM_TILES = HEAD_DIM / 16;
static __device__ constexpr int HELD_ROWS = kiln::tile_acc::held_rows;

static_assert(QUERIES % 16 == 0 && BLOCK_K % 16 == 0, "tiles are 16 x 16");

// Sixteen of a warp's queries.
struct Strip {
    kiln::tile_a<__half> q[DIM_TILES];
    kiln::tile_acc out[DIM_TILES];
    kiln::tile_acc scores[KEY_TILES];
    // The softmax of the rows of which this lane holds elements. Until the end, a sum covers only the elements of this
    // lane.
    SoftmaxRow row[HELD_ROWS];
};

// Computes the scores of the strips' queries for BLOCK_K keys.
static __device__ __forceinline__ void score(Strip (&strips)[STRIPS], const __half* k_tile)
{
#pragma unroll
    for (int key = 0; key < KEY_TILES; ++key) {
#pragma unroll
        for (int s = 0; s < STRIPS; ++s) {
            kiln::tile_fill(strips[s].scores[key], 0.0f);
        }
#pragma unroll
        for (int d = 0; d < DIM_TILES; ++d) {
            // Keys are rows in memory, but columns of this product.
            kiln::tile_b<__half> keys;
            kiln::tile_load_shared<kiln::layout::col_major>(keys, k_tile + key * 16 * LEADING + d * 16, LEADING);
#pragma unroll
            for (int s = 0; s < STRIPS; ++s) {
                kiln::mma(strips[s].scores[key], strips[s].q[d], keys);
            }
        }
    }
}

// For the keys from `first` on, replaces the score by LEAST if a query must not attend to the key.
static __device__ __forceinline__ void hide(Strip& strip, unsigned int first_query, unsigned int first, unsigned int seq,
                                            unsigned int causal)
{
#pragma unroll
    for (int i = 0; i < kiln::tile_acc::elements; ++i) {
        const unsigned int keys = keys_of(first_query + kiln::tile_acc::row(i) + 1, seq, causal);
#pragma unroll
        for (int key = 0; key < KEY_TILES; ++key) {
            if (first + key * 16 + kiln::tile_acc::col(i) >= keys) {
                strip.scores[key].value[i] = LEAST;
            }
        }
    }
}

// Turns the scores into weights, and rescales the sums so far to the new maximum.
static __device__ __forceinline__ void weigh(Strip& strip, float scale)
{
    float largest[HELD_ROWS], factors[HELD_ROWS];
#pragma unroll
    for (int r = 0; r < HELD_ROWS; ++r) {
        largest[r] = LEAST;
    }
#pragma unroll
    for (int key = 0; key < KEY_TILES; ++key) {
#pragma unroll
        for (int i = 0; i < kiln::tile_acc::elements; ++i) {
            float& most = largest[kiln::tile_acc::held_row(i)];
            most = fmaxf(most, strip.scores[key].value[i]);
        }
    }
    kiln::tile_reduce_rows(largest, kiln::maximum());
#pragma unroll
    for (int r = 0; r < HELD_ROWS; ++r) {
        factors[r] = strip.row[r].grow(largest[r] * scale);
    }
#pragma unroll
    for (int d = 0; d < DIM_TILES; ++d) {
        kiln::tile_scale_rows(strip.out[d], factors);
    }
#pragma unroll
    for (int key = 0; key < KEY_TILES; ++key) {
#pragma unroll
        for (int i = 0; i < kiln::tile_acc::elements; ++i) {
            SoftmaxRow& row = strip.row[kiln::tile_acc::held_row(i)];
            float& element = strip.scores[key].value[i];
            element = kiln::fast_exp2(element * scale - row.largest);
            row.sum += element;
        }
    }
}

// Adds the values, each times its weight, to the outputs.
static __device__ __forceinline__ void gather(Strip (&strips)[STRIPS], const __half* v_tile)
{
#pragma unroll
    for (int key = 0; key < KEY_TILES; ++key) {
        kiln::tile_a<__half> weights[STRIPS];
#pragma unroll
        for (int s = 0; s < STRIPS; ++s) {
            weights[s] = kiln::tile_to_a<__half>(strips[s].scores[key]);
        }
#pragma unroll
        for (int d = 0; d < DIM_TILES; ++d) {
            kiln::tile_b<__half> values;
            kiln::tile_load_shared<kiln::layout::row_major>(values, v_tile + key * 16 * LEADING + d * 16, LEADING);
#pragma unroll
            for (int s = 0; s < STRIPS; ++s) {
                kiln::mma(strips[s].out[d], weights[s], values);
            }
        }
    }
}

// Processes BLOCK_K keys and values from `first` on for the queries of a warp.
static __device__ __forceinline__ void take(Strip (&strips)[STRIPS], const __half* k_tile, unsigned int first_query,
                                            unsigned int first, unsigned int seq, unsigned int causal, float scale)
{
    score(strips, k_tile);
#pragma unroll
    for (int s = 0; s < STRIPS; ++s) {
        const unsigned int query = first_query + s * 16;
        // Hide keys only if some of them are beyond the keys that the strip's first query attends to.
        if (first + BLOCK_K > keys_of(query + 1, seq, causal)) {
            hide(strips[s], query, first, seq, causal);
        }
        weigh(strips[s], scale);
    }
    gather(strips, k_tile + STAGE);
}

static __device__ __forceinline__ void load_queries(Strip& strip, const __half* q, unsigned int query, unsigned int seq)
{
    const int rows = query < seq ? (int)(seq - query) : 0;
    const __half* const from = rows > 0 ? q + (size_t)query * HEAD_DIM : q;
#pragma unroll
    for (int r = 0; r < HELD_ROWS; ++r) {
        strip.row[r] = SoftmaxRow::empty();
    }
#pragma unroll
    for (int d = 0; d < DIM_TILES; ++d) {
        kiln::tile_load_part<kiln::layout::row_major>(strip.q[d], from + d * 16, HEAD_DIM, rows, 16);
        kiln::tile_fill(strip.out[d], 0.0f);
    }
}

static __device__ __forceinline__ void store_queries(Strip& strip, __half* out, unsigned int query, unsigned int seq)
{
    const int rows = query < seq ? (int)(seq - query) : 0;
    __half* const to = rows > 0 ? out + (size_t)query * HEAD_DIM : out;
    float factors[HELD_ROWS];
#pragma unroll
    for (int r = 0; r < HELD_ROWS; ++r) {
        factors[r] = strip.row[r].sum;
    }
    kiln::tile_reduce_rows(factors, kiln::add());
#pragma unroll
    for (int r = 0; r < HELD_ROWS; ++r) {
        factors[r] = 1.0f / factors[r];
    }
#pragma unroll
    for (int d = 0; d < DIM_TILES; ++d) {
        kiln::tile_scale_rows(strip.out[d], factors);
        kiln::tile_store_part<kiln::layout::row_major, 8>(to + d * 16, HEAD_DIM, strip.out[d], rows, 16);
    }
}

static __device__ __forceinline__ void attend(unsigned int seq, unsigned int causal, const __half* q, const __half* k,
                                              const __half* v, __half* out)
{
    __half* const tiles = kiln::dynamic_shared<__half>();
    const unsigned int block_first = blockIdx.x * WARPS * QUERIES;
    const unsigned int first_query = block_first + kiln::warp() * QUERIES;
    const unsigned int rounds = kiln::div_ceil(keys_of(block_first + WARPS * QUERIES, seq, causal), BLOCK_K);
    // The number of keys that any of this warp's queries attends to.
    const unsigned int keys = first_query < seq ? keys_of(first_query + QUERIES, seq, causal) : 0;
    const float scale = rsqrtf((float)HEAD_DIM) * LOG2_E;

    const auto fetch = [&](unsigned int round) {
        __half* const to = tiles + round % STAGES * (2 * STAGE);
        copy_rows<LEADING>(to, k, round * BLOCK_K, seq);
        copy_rows<LEADING>(to + STAGE, v, round * BLOCK_K, seq);
    };

    Strip strips[STRIPS];
#pragma unroll
    for (int s = 0; s < STRIPS; ++s) {
        load_queries(strips[s], q, first_query + s * 16, seq);
    }
    for (unsigned int round = 0; round + 1 < STAGES; ++round) {
        if (round < rounds) {
            fetch(round);
        }
        kiln::copy_commit();
    }
    for (unsigned int round = 0; round < rounds; ++round) {
#if STAGES == 1
        fetch(round);
        kiln::copy_commit();
        kiln::copy_wait<0>();
        __syncthreads();
#else
        kiln::copy_wait<STAGES - 2>();
        // Wait until all warps have finished the round before. Its stage may then be overwritten.
        __syncthreads();
        if (round + STAGES - 1 < rounds) {
            fetch(round + STAGES - 1);
        }
        kiln::copy_commit();
#endif
        if (round * BLOCK_K < keys) {
            const __half* const k_tile = tiles + round % STAGES * (2 * STAGE);
            take(strips, k_tile, first_query, round * BLOCK_K, seq, causal, scale);
        }
#if STAGES == 1
        __syncthreads();
#endif
    }
#pragma unroll
    for (int s = 0; s < STRIPS; ++s) {
        store_queries(strips[s], out, first_query + s * 16, seq);
    }
}
