// Receipts: what the launch itself writes of the launch.
#ifndef KILN_HIP_RECEIPT_H
#define KILN_HIP_RECEIPT_H

#include "portable/receipt.h"

// The bytes of dynamic shared memory that this launch has. The runtime fills that argument in only for
// kernels that use such memory: the empty statement is that use.
extern __shared__ unsigned char kiln_hip_dynamic_shared[];
KILN_INLINE uint32_t kiln_hip_dynamic_shared_bytes(void) {
    typedef __attribute__((address_space(3))) unsigned char byte;
    __asm__ volatile("" ::"v"((uint32_t)(uintptr_t)(byte*)kiln_hip_dynamic_shared));
    return kiln_hip_implicit_word(30);
}

// The first thread of the first block copies the nonce and describes the launch; every thread counts
// itself, so that a grid that ran in part shows.
KILN_INLINE void kiln_hip_sign_receipt(kiln_receipt* receipt, uint64_t symbol_hash, uint64_t config_hash) {
    __hip_atomic_fetch_add(&receipt->threads, (uint64_t)1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    uint32_t dynamic_shared_bytes = kiln_hip_dynamic_shared_bytes();
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
    receipt->dynamic_shared_bytes = dynamic_shared_bytes;
    receipt->warp_size = __builtin_amdgcn_wavefrontsize();
    receipt->abi_version = 1;
}

#define KILN_SIGN_RECEIPT(receipt, symbol_hash, config_hash)                                           \
    kiln_hip_sign_receipt((receipt), (symbol_hash), (config_hash))

#endif
