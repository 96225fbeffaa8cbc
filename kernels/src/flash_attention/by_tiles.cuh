#pragma once
// Attention by tiles of 16 x 16: a warp has QUERIES queries, its scores and weights go through shared memory of its own.
//
// Shared memory: STAGES * 2 * BLOCK_K * (HEAD_DIM + 8) halves for keys and values, and for each warp 16 * (BLOCK_K + 4)
// floats of scores, 16 * (BLOCK_K + 8) halves of weights and 16 factors.

#include "keys.cuh"
#include "softmax_row.cuh"

static __device__ constexpr int LEADING = HEAD_DIM + 8;
static __device__ constexpr int STAGE = BLOCK_K * LEADING;
static __device__ constexpr int LEADING_SCORES = BLOCK_K + 4;
static __device__ constexpr int LEADING_WEIGHTS = BLOCK_K + 8;
static __device__ constexpr int WARP_BYTES = 16 * (LEADING_SCORES * 4 + LEADING_WEIGHTS * 2 + 4);

// What a warp has for sixteen of its queries.
struct Strip {
    kiln::tile_a<__half> q[HEAD_DIM / 16];
    kiln::tile_acc out[HEAD_DIM / 16];
    // Of row lane / 2; the two lanes of a row have the same.
    SoftmaxRow row;
};

// A warp's own shared memory.
struct Scratch {
    float* scores;
    __half* weights;
    float* factors;
};

static __device__ __forceinline__ Scratch scratch_of(unsigned char* warps)
{
    unsigned char* const here = warps + kiln::warp() * WARP_BYTES;
    return Scratch{(float*)here, (__half*)(here + 16 * LEADING_SCORES * 4),
                   (float*)(here + 16 * (LEADING_SCORES * 4 + LEADING_WEIGHTS * 2))};
}

// The strip's rows of an accumulator times their factors.
static __device__ __forceinline__ void scale_rows(Strip& strip, const float* factors)
{
#pragma unroll
    for (int d = 0; d < HEAD_DIM / 16; ++d) {
#pragma unroll
        for (int i = 0; i < kiln::tile_acc::elements; ++i) {
            strip.out[d].value[i] *= factors[kiln::tile_acc::row(i)];
        }
    }
}

// Scores of the strip's queries and BLOCK_K keys.
static __device__ __forceinline__ void score(const Strip& strip, const __half* k_tile, Scratch scratch)
{
#pragma unroll
    for (int key = 0; key < BLOCK_K; key += 16) {
        kiln::tile_acc sum;
        kiln::tile_fill(sum, 0.0f);
#pragma unroll
        for (int d = 0; d < HEAD_DIM / 16; ++d) {
            // Keys are rows in memory, columns here.
            kiln::tile_b<__half> keys;
            kiln::tile_load_shared<kiln::layout::col_major>(keys, k_tile + key * LEADING + d * 16, LEADING);
            kiln::mma(sum, strip.q[d], keys);
        }
        kiln::tile_store<kiln::layout::row_major>(scratch.scores + key, LEADING_SCORES, sum);
    }
}

// The weights of the keys from `first` on, of which query `query` sees those below `keys`.
static __device__ __forceinline__ void weigh(Strip& strip, Scratch scratch, unsigned int first, unsigned int keys,
                                             float scale)
{
    const int row = (int)kiln::lane() / 2, half = (int)kiln::lane() % 2;
    const float* const scores = scratch.scores + row * LEADING_SCORES;
    __half* const weights = scratch.weights + row * LEADING_WEIGHTS;
    float largest = LEAST;
#pragma unroll
    for (int i = half; i < BLOCK_K; i += 2) {
        if (first + i < keys) {
            largest = fmaxf(largest, scores[i] * scale);
        }
    }
    const float factor = strip.row.grow(fmaxf(largest, kiln::shuffle_xor(largest, 1)));
    float sum = 0.0f;
#pragma unroll
    for (int i = half; i < BLOCK_K; i += 2) {
        const float weight = first + i < keys ? __expf(scores[i] * scale - strip.row.largest) : 0.0f;
        sum += weight;
        weights[i] = __float2half_rn(weight);
    }
    strip.row.sum += sum + kiln::shuffle_xor(sum, 1);
    if (half == 0) {
        scratch.factors[row] = factor;
    }
}

// Adds the weighted values.
static __device__ __forceinline__ void gather(Strip& strip, const __half* v_tile, Scratch scratch)
{
    scale_rows(strip, scratch.factors);
#pragma unroll
    for (int key = 0; key < BLOCK_K; key += 16) {
        kiln::tile_a<__half> weights;
        kiln::tile_load_shared<kiln::layout::row_major>(weights, scratch.weights + key, LEADING_WEIGHTS);
#pragma unroll
        for (int d = 0; d < HEAD_DIM / 16; ++d) {
            kiln::tile_b<__half> values;
            kiln::tile_load_shared<kiln::layout::row_major>(values, v_tile + key * LEADING + d * 16, LEADING);
            kiln::mma(strip.out[d], weights, values);
        }
    }
}

static __device__ __forceinline__ void attend(unsigned int seq, unsigned int causal, const __half* q, const __half* k,
                                              const __half* v, __half* out)
{
    static_assert(QUERIES % 16 == 0 && BLOCK_K % 16 == 0, "tiles are 16 x 16");
    __half* const tiles = kiln::dynamic_shared<__half>();
    const Scratch scratch = scratch_of((unsigned char*)(tiles + STAGES * 2 * STAGE));
    const unsigned int block_first = blockIdx.x * WARPS * QUERIES;
    const unsigned int first_query = block_first + kiln::warp() * QUERIES;
    const unsigned int keys = keys_of(block_first + WARPS * QUERIES, seq, causal);
    const unsigned int rounds = kiln::div_ceil(keys, BLOCK_K);
    const float scale = rsqrtf((float)HEAD_DIM);

    const auto fetch = [&](unsigned int round) {
        __half* const to = tiles + round % STAGES * (2 * STAGE);
        copy_rows<LEADING>(to, k, round * BLOCK_K, seq);
        copy_rows<LEADING>(to + STAGE, v, round * BLOCK_K, seq);
    };

    Strip strips[QUERIES / 16];
#pragma unroll
    for (int s = 0; s < QUERIES / 16; ++s) {
        const unsigned int query = first_query + s * 16;
        const int rows = query < seq ? (int)(seq - query) : 0;
        strips[s].row = SoftmaxRow::empty();
#pragma unroll
        for (int d = 0; d < HEAD_DIM / 16; ++d) {
            const __half* const from = rows > 0 ? q + (size_t)query * HEAD_DIM + d * 16 : q;
            kiln::tile_load_part<kiln::layout::row_major>(strips[s].q[d], from, HEAD_DIM, rows, 16);
            kiln::tile_fill(strips[s].out[d], 0.0f);
        }
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
        // All are done with the round before: its place may be taken.
        __syncthreads();
        if (round + STAGES - 1 < rounds) {
            fetch(round + STAGES - 1);
        }
        kiln::copy_commit();
#endif
        const __half* const k_tile = tiles + round % STAGES * (2 * STAGE);
#pragma unroll
        for (int s = 0; s < QUERIES / 16; ++s) {
            const unsigned int query = first_query + s * 16 + kiln::lane() / 2;
            score(strips[s], k_tile, scratch);
            __syncwarp();
            weigh(strips[s], scratch, round * BLOCK_K, keys_of(query + 1, seq, causal), scale);
            __syncwarp();
            gather(strips[s], k_tile + STAGE, scratch);
            __syncwarp();
        }
#if STAGES == 1
        __syncthreads();
#endif
    }

#pragma unroll
    for (int s = 0; s < QUERIES / 16; ++s) {
        const unsigned int query = first_query + s * 16;
        if (kiln::lane() % 2 == 0) {
            scratch.factors[kiln::lane() / 2] = 1.0f / strips[s].row.sum;
        }
        __syncwarp();
        scale_rows(strips[s], scratch.factors);
        __syncwarp();
        const int rows = query < seq ? (int)(seq - query) : 0;
        __half* const to = rows > 0 ? out + (size_t)query * HEAD_DIM : out;
#pragma unroll
        for (int d = 0; d < HEAD_DIM / 16; ++d) {
            kiln::tile_store_part<kiln::layout::row_major>(to + d * 16, HEAD_DIM, strips[s].out[d], rows, 16);
        }
    }
}
