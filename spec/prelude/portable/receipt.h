// The record of a receipt: what the device itself writes about one launch. runtime/src/receipt.rs reads it.
#ifndef KILN_RECEIPT_H
#define KILN_RECEIPT_H

struct kiln_receipt {
    uint64_t nonce_in;
    uint64_t nonce;
    uint64_t symbol_hash;
    uint64_t config_hash;
    uint64_t threads;
    uint32_t block[3];
    uint32_t grid[3];
    uint32_t dynamic_shared_bytes;
    uint32_t warp_size;
    uint64_t abi_version;
    uint32_t reserved[4];
};
static_assert(sizeof(kiln_receipt) == 96, "the host reads 96 bytes");

#endif
