// AMD's matrix instruction on the cpu device, so that the layouts of device/tile_hip.h can be tried where there is no such
// GPU: lanes bring and take what "Wave Matrix Multiply Accumulate (WMMA)" of the RDNA3 ISA says, whatever it is called.
// Included within namespace kiln.

// The lines that the lanes of a warp bring to a product.
struct wmma_exchange {
    float left[32][16];
    float right[32][16];
};
KILN_INLINE wmma_exchange& warp_exchange() {
    static wmma_exchange kiln_cpu_tiles[KILN_CPU_MAX_THREADS / 32];
    return kiln_cpu_tiles[warp()];
}

// acc += left * right in the instruction's own layout.
inline __attribute__((noinline)) void wmma(float (&acc)[8], const float (&left)[16], const float (&right)[16]) {
    wmma_exchange& all = warp_exchange();
    const int self = (int)lane();
    copy_bytes<sizeof(left)>(all.left[self], left);
    copy_bytes<sizeof(right)>(all.right[self], right);
    __syncwarp();
    for (int i = 0; i < 8; ++i) {
        const int row = 2 * i + self / 16, col = self % 16;
        for (int k = 0; k < 16; ++k) acc[i] += all.left[row][k] * all.right[col][k];
    }
    for (int k = 0; k < 16; ++k) {
        if (all.left[self][k] != all.left[self ^ 16][k] || all.right[self][k] != all.right[self ^ 16][k]) {
            kiln_cpu_fail("matrix operands that lanes 16 to 31 do not repeat");
        }
    }
    __syncwarp();
}

template <class T> KILN_INLINE void mma(tile_acc& acc, const tile_a<T>& a, const tile_b<T>& b) {
    float left[16], right[16];
    for (int k = 0; k < 16; ++k) {
        left[k] = to_float(b.value[k]);
        right[k] = to_float(a.value[k]);
    }
    wmma(acc.value, left, right);
}

KILN_INLINE unsigned int other_half(unsigned int word) { return __shfl_xor_sync(all_lanes, word, 16, 32); }
