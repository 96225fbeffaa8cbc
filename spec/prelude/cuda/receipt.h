// Receipts: what the launch itself writes of the launch.
#ifndef KILN_CUDA_RECEIPT_H
#define KILN_CUDA_RECEIPT_H

#include "portable/receipt.h"

// The bytes of dynamic shared memory that this launch has (PTX ISA, special register %dynamic_smem_size).
KILN_INLINE uint32_t kiln_cuda_dynamic_shared_bytes() {
    uint32_t bytes;
    asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    return bytes;
}

// The first thread of the first block copies the nonce and describes the launch; every thread counts
// itself, so that a grid that ran in part shows.
KILN_INLINE void kiln_cuda_sign_receipt(kiln_receipt* receipt, uint64_t symbol_hash,
                                        uint64_t config_hash) {
    atomicAdd((unsigned long long*)&receipt->threads, 1ull);
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
    receipt->dynamic_shared_bytes = kiln_cuda_dynamic_shared_bytes();
    receipt->warp_size = warpSize;
    receipt->abi_version = 1;
}

#define KILN_SIGN_RECEIPT(receipt, symbol_hash, config_hash)                                           \
    kiln_cuda_sign_receipt((receipt), (symbol_hash), (config_hash))

#endif
