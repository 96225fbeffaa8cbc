// out = softmax(q * transposed(k) / sqrt(dim)) * v for each head, without ever writing the scores to memory (T. Dao,
// D. Fu, S. Ermon, A. Rudra and C. Ré, "FlashAttention", arXiv:2205.14135; T. Dao, "FlashAttention-2", arXiv:2307.08691).
// q, k, v and out are heads x seq x dim halves. A batch is treated as additional heads. If causal is 1, each query
// attends to all keys; if it is 2, to the keys up to its own position.
//
// Tunable parameters:
//   WARPS         warps of a block: 4 are 128 threads, 12 are 384
//   LANES         threads of a warp; 1 makes a block a single thread, for processors that run threads one after another
//   QUERIES       queries of a warp
//   BLOCK_K       keys and values in shared memory at once
//   STAGES        such blocks in shared memory, if TILES is 1
//   VECTOR_WIDTH  halves that a thread copies at once
//   TILES         1: by tiles of 16 x 16, on tensor cores if the GPU has them; 0: by fused multiply-adds
//   HEAD_DIM      dim as a compile-time constant

#include "naive.cuh"

static_assert(LANES == 32 || (WARPS == 1 && TILES == 0 && VECTOR_WIDTH == 8), "a thread alone has no warp to share tiles with");
static_assert(LANES == 32 || BLOCK_K * QUERIES <= 2048, "the weights of a thread alone are local");

#if TILES
#include "by_tiles.cuh"
#elif LANES == 1
#include "alone.cuh"
#else
#include "by_threads.cuh"
#endif

extern "C" __global__ void __launch_bounds__(LANES * WARPS)
flash_attention(unsigned int heads, unsigned int seq, unsigned int dim, unsigned int causal,
                const __half* __restrict__ q, const __half* __restrict__ k, const __half* __restrict__ v,
                __half* __restrict__ out)
{
    const size_t head = (size_t)blockIdx.y * seq * HEAD_DIM;
    attend(seq, causal, q + head, k + head, v + head, out + head);
}
