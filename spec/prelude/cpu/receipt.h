// Receipts: what the launch itself writes of the launch.
#ifndef KILN_CPU_RECEIPT_H
#define KILN_CPU_RECEIPT_H

#include "portable/receipt.h"

// The first thread of the first block copies the nonce and describes the launch; every thread counts
// itself, so that a grid that ran in part shows.
#if KILN_CPU_WATCH
static __attribute__((noinline)) KILN_CPU_UNSEEN
#else
KILN_INLINE
#endif
void kiln_cpu_sign_receipt(kiln_receipt* receipt, uint64_t symbol_hash,
                                           uint64_t config_hash) {
    __atomic_fetch_add(&receipt->threads, 1, __ATOMIC_RELAXED);
    if (threadIdx.x | threadIdx.y | threadIdx.z | blockIdx.x | blockIdx.y | blockIdx.z) return;
    receipt->nonce = receipt->nonce_in;
    receipt->symbol_hash = symbol_hash;
    receipt->config_hash = config_hash;
    receipt->block[0] = blockDim.x;
    receipt->block[1] = blockDim.y;
    receipt->block[2] = blockDim.z;
    receipt->grid[0] = gridDim.x;
    receipt->grid[1] = gridDim.y;
    receipt->grid[2] = gridDim.z;
    receipt->dynamic_shared_bytes = kiln_cpu_job->dynamic_shared_bytes;
    receipt->warp_size = warpSize;
    receipt->abi_version = 1;
}

#if !KILN_CPU_FIBERS
// Reads what a receipt reads, in every object: a compiler drops a builtin that nothing reads, and a release
// kernel would be other code with a receipt kernel beside it. (`used` on the builtins would do as much, but
// then loops no longer vectorise.)
static __attribute__((used, cold)) uint32_t kiln_cpu_read_builtins(void) {
    return threadIdx.x ^ threadIdx.y ^ threadIdx.z ^ blockIdx.x ^ blockIdx.y ^ blockIdx.z ^ blockDim.x ^
           blockDim.y ^ blockDim.z ^ gridDim.x ^ gridDim.y ^ gridDim.z;
}
#endif

#define KILN_SIGN_RECEIPT(receipt, symbol_hash, config_hash)                                           \
    kiln_cpu_sign_receipt((receipt), (symbol_hash), (config_hash))

#endif
