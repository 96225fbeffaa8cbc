//! Forward attention that does not store the matrix of scores. Inputs and outputs are 16-bit floats, and sums are
//! accumulated in single precision.
//!
//! ```
//! use kiln::{Buffer, Device, f16};
//! use kiln_kernels::flash_attention::flash_attention;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = Device::cpu()?.stream();
//! let (heads, seq, dim, causal) = (1, 2, 64, 2);
//! let same = vec![f16::ONE; 128];
//! let mut values = vec![f16::ZERO; 128];
//! values[64..].fill(f16::from_f32(2.0));
//! let q = Buffer::from_slice(&stream, &same)?;
//! let v = Buffer::from_slice(&stream, &values)?;
//! let mut out = Buffer::zeros(&stream, 128)?;
//! flash_attention(&stream, heads, seq, dim, causal, &q, &q, &v, &mut out)?;
//! // The first query sees itself alone, the second one both positions alike.
//! let out = out.to_vec(&stream)?;
//! assert_eq!((out[0].to_f32(), out[64].to_f32()), (0.0, 1.0));
//! # Ok(())
//! # }
//! ```

pub mod reference;

use kiln::tuned_kernel;

pub use self::flash_attention::KERNEL;

// Weights are rounded to 16 bits before they are multiplied with the values. The error of each weight is at most
// 2^-12.
#[tuned_kernel(
    source = "flash_attention.cu",
    untuned = allow,
    params(
        WARPS in [1, 2, 4, 8, 12],
        LANES in [1, 32],
        QUERIES in [16, 32],
        BLOCK_K in [16, 32, 64, 128],
        STAGES in [1, 2, 3],
        VECTOR_WIDTH in [2, 4, 8],
        TILES in [0, 1],
        HEAD_DIM in [64, 128],
    ),
    where(
        HEAD_DIM == dim,
        causal == 1 || causal == 2,
        TILES == 1 || QUERIES == 32 || LANES == 1,
        TILES == 1 || STAGES == 1,
        LANES * WARPS <= device.max_threads_per_block,
        // Use a block of one thread only on processors that run the threads of a block one after another.
        LANES >= device.lockstep_threads,
        LANES == 32 || (WARPS == 1 && TILES == 0 && VECTOR_WIDTH == 8),
        // Limit the registers that hold a lane's part of the queries, scores and sums.
        TILES == 0 || QUERIES * (2 * BLOCK_K + 3 * HEAD_DIM) <= 64 * 200,
        // A thread that runs alone keeps its weights in local memory, so limit their size.
        LANES == 32 || BLOCK_K * QUERIES <= 2048,
        TILES * STAGES * 4 * BLOCK_K * (HEAD_DIM + 8)
            + (1 - TILES) * 8 * (BLOCK_K + (1 - LANES / 32) * QUERIES) * HEAD_DIM <= device.shared_bytes_per_block,
    ),
    baseline(
        entry = "attention_naive",
        grid(seq, heads),
        block(128),
        where(dim <= 256, causal == 1 || causal == 2),
        QUERIES = 32,
        LANES = 32,
        HEAD_DIM = 64
    ),
    try_first(
        (WARPS = 1, LANES = 1, QUERIES = 32, BLOCK_K = 32, STAGES = 1, VECTOR_WIDTH = 8, TILES = 0, HEAD_DIM = 64),
        (WARPS = 1, LANES = 1, QUERIES = 32, BLOCK_K = 16, STAGES = 1, VECTOR_WIDTH = 8, TILES = 0, HEAD_DIM = 128),
        (WARPS = 2, LANES = 32, QUERIES = 32, BLOCK_K = 64, STAGES = 1, VECTOR_WIDTH = 8, TILES = 0, HEAD_DIM = 64),
        (WARPS = 1, LANES = 32, QUERIES = 32, BLOCK_K = 32, STAGES = 1, VECTOR_WIDTH = 8, TILES = 0, HEAD_DIM = 128),
        (WARPS = 4, LANES = 32, QUERIES = 16, BLOCK_K = 64, STAGES = 2, VECTOR_WIDTH = 8, TILES = 1, HEAD_DIM = 64),
        (WARPS = 4, LANES = 32, QUERIES = 16, BLOCK_K = 64, STAGES = 1, VECTOR_WIDTH = 8, TILES = 1, HEAD_DIM = 128),
    ),
    grid(seq.div_ceil(WARPS * QUERIES), heads),
    block(LANES * WARPS),
    shared(
        TILES * STAGES * 4 * BLOCK_K * (HEAD_DIM + 8)
            + (1 - TILES) * 8 * (BLOCK_K + (1 - LANES / 32) * QUERIES) * HEAD_DIM
    ),
    problems(
        (heads = 1, seq = 128, dim = 64, causal = 1),
        (heads = 1, seq = 512, dim = 64, causal = 1),
        (heads = 8, seq = 128, dim = 64, causal = 1),
        (heads = 1, seq = 512, dim = 128, causal = 2),
    ),
    gpu_problems(
        (heads = 1, seq = 32, dim = 64, causal = 1), (heads = 1, seq = 64, dim = 64, causal = 1),
        (heads = 1, seq = 256, dim = 64, causal = 1), (heads = 32, seq = 2048, dim = 64, causal = 2),
        (heads = 32, seq = 4096, dim = 64, causal = 1), (heads = 32, seq = 4096, dim = 64, causal = 2),
        (heads = 32, seq = 4096, dim = 128, causal = 1), (heads = 32, seq = 4096, dim = 128, causal = 2),
    ),
    verify(
        (heads = 1, seq = 1, dim = 64, causal = 1), (heads = 2, seq = 37, dim = 64, causal = 2),
        (heads = 1, seq = 150, dim = 64, causal = 1), (heads = 3, seq = 64, dim = 128, causal = 2),
        (heads = 1, seq = 129, dim = 128, causal = 1), (heads = 1, seq = 400, dim = 64, causal = 2),
    ),
    work(
        flops = 4 * heads * seq * seq * dim / causal,
        bytes = 8 * heads * seq * dim,
    ),
    tolerance(relative = 2e-3),
    reference = reference::flash_attention,
)]
unsafe extern "C" {
    /// Computes `out = softmax(q * transposed(k) / sqrt(dim)) * v` for each head. All matrices are heads x seq x dim.
    /// If `causal` is 1, each query attends to all keys. If it is 2, each query attends to the keys up to its own
    /// position. `dim` is at most 256.
    pub fn flash_attention(
        heads: u32,
        seq: u32,
        dim: u32,
        causal: u32,
        #[len(heads * seq * dim)]
        #[fill(uniform(-2, 2))]
        #[align(8)]
        q: &[f16],
        #[len(heads * seq * dim)]
        #[fill(uniform(-2, 2))]
        #[align(8)]
        k: &[f16],
        #[len(heads * seq * dim)]
        #[align(8)]
        v: &[f16],
        #[len(heads * seq * dim)]
        #[align(8)]
        out: &mut [f16],
    );
}
