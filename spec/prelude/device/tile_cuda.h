// Tiles on NVIDIA's tensor cores: two mma.sync.m16n8k16 side by side. PTX ISA, "Matrix Fragments for
// mma.m16n8k16 with floating point type": with g = lane / 4 and t = lane % 4,
//   a, 16 x 16   words of two columns: (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8)
//   b, 16 x 8    words of two rows: (2t, g), (2t + 8, g)
//   acc, 16 x 8  pairs of two columns: (g, 2t), (g + 8, 2t)
// The halves of b and acc are the columns 0 to 7 and 8 to 15.
#ifndef KILN_DEVICE_TILE_CUDA_H
#define KILN_DEVICE_TILE_CUDA_H

namespace kiln {

KILN_INLINE int tile_group() { return (int)lane() / 4; }
KILN_INLINE int tile_in_group() { return (int)lane() % 4; }

// A 16 x 16 tile of the left matrix: rows of the product, columns of the sum.
template <class T> struct alignas(16) tile_a {
    static constexpr int elements = 8;
    T value[8];
    KILN_MEMBER static int row(int i) { return tile_group() + i / 2 % 2 * 8; }
    KILN_MEMBER static int col(int i) { return tile_in_group() * 2 + i % 2 + i / 4 * 8; }
};
// A 16 x 16 tile of the right matrix: rows of the sum, columns of the product.
template <class T> struct alignas(16) tile_b {
    static constexpr int elements = 8;
    T value[8];
    KILN_MEMBER static int row(int i) { return tile_in_group() * 2 + i % 2 + i / 2 % 2 * 8; }
    KILN_MEMBER static int col(int i) { return tile_group() + i / 4 * 8; }
};
// A 16 x 16 tile of the product.
struct tile_acc {
    static constexpr int elements = 8, held_rows = 2;
    float value[8];
    KILN_MEMBER static int row(int i) { return tile_group() + i / 2 % 2 * 8; }
    KILN_MEMBER static int col(int i) { return tile_in_group() * 2 + i % 2 + i / 4 * 8; }
    KILN_MEMBER static int held_row(int i) { return i / 2 % 2; }
};

#if defined(KILN_HAS_HALF) || defined(KILN_HAS_BFLOAT16)

#if __CUDA_ARCH__ >= 800
// Volatile: every lane takes part in it, so it must not move below a condition under which its sums are used.
#define KILN_MMA(type, half)                                                                           \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type                                \
                 ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                \
        : "+f"(acc.value[half * 4]), "+f"(acc.value[half * 4 + 1]), "+f"(acc.value[half * 4 + 2]),     \
          "+f"(acc.value[half * 4 + 3])                                                                \
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[half * 2]),                \
          "r"(right[half * 2 + 1]))
#else
#define KILN_MMA(type, half) static_assert(sizeof(T) == 0, "tiles need tensor cores of sm_80 or later")
#endif

// acc += a * b.
template <class T> KILN_INLINE void mma(tile_acc& acc, const tile_a<T>& a, const tile_b<T>& b) {
    static_assert(sizeof(T) == 2, "tiles are of __half or __nv_bfloat16");
    unsigned int left[4], right[4];
    copy_bytes<sizeof(left)>(left, a.value);
    copy_bytes<sizeof(right)>(right, b.value);
#ifdef KILN_HAS_HALF
    if constexpr (same_type<T, __half>) {
        KILN_MMA("f16", 0);
        KILN_MMA("f16", 1);
    }
#endif
#ifdef KILN_HAS_BFLOAT16
    if constexpr (same_type<T, __nv_bfloat16>) {
        KILN_MMA("bf16", 0);
        KILN_MMA("bf16", 1);
    }
#endif
}
#undef KILN_MMA

#endif

// Four 8 x 8 matrices of 16 bits: lane 8 m + r brings the address of row r of matrix m, and holds two
// neighbouring elements of row lane / 4 of each; transposed, of column lane / 4.
KILN_INLINE void load_matrices(unsigned int (&words)[4], const void* row) {
    const unsigned int from = (unsigned int)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(from)
                 : "memory");
}
KILN_INLINE void load_matrices_transposed(unsigned int (&words)[4], const void* row) {
    const unsigned int from = (unsigned int)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(from)
                 : "memory");
}

// Reads a tile from shared memory, where `from` and every row (or column) begin at a multiple of 16 bytes.
template <layout order, class T>
KILN_INLINE void tile_load_shared(tile_a<T>& tile, const T* from, int leading) {
    static_assert(order != layout::row_pairs, "only right tiles lie in pairs of rows");
    const int line = (int)lane() % 8, matrix = (int)lane() / 8;
    unsigned int words[4];
    if constexpr (order == layout::row_major) {
        load_matrices(words, from + (line + matrix % 2 * 8) * leading + matrix / 2 * 8);
    } else {
        load_matrices_transposed(words, from + (line + matrix / 2 * 8) * leading + matrix % 2 * 8);
    }
    copy_bytes<sizeof(words)>(tile.value, words);
}
template <layout order, class T>
KILN_INLINE void tile_load_shared(tile_b<T>& tile, const T* from, int leading) {
    if constexpr (order == layout::row_pairs) {
#pragma unroll
        for (int i = 0; i < 8; i += 2) load_row_pair<order>(tile, i, from, leading);
        return;
    }
    const int line = (int)lane() % 8, matrix = (int)lane() / 8;
    unsigned int words[4];
    if constexpr (order == layout::col_major) {
        load_matrices(words, from + (line + matrix / 2 * 8) * leading + matrix % 2 * 8);
    } else {
        load_matrices_transposed(words, from + (line + matrix % 2 * 8) * leading + matrix / 2 * 8);
    }
    copy_bytes<sizeof(words)>(tile.value, words);
}

// The lanes of a group hold the same rows.
template <class Combine> KILN_INLINE float tile_reduce_held_row(float value, Combine combine) {
    return warp_reduce<4>(value, combine);
}

// A pair of columns of the accumulator is a word of the left tile.
template <class T> KILN_INLINE tile_a<T> tile_to_a(const tile_acc& acc) {
    tile_a<T> tile;
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
        const vec<T, 2> pair = from_float<T>(vec<float, 2>{{acc.value[i], acc.value[i + 1]}});
        copy_bytes<sizeof(pair)>(tile.value + i, &pair);
    }
    return tile;
}

// Calls body(row, col, vec) for the neighbours of a row that this lane can write at once.
template <class T> constexpr int tile_neighbours = 2;
template <class T, class Body> KILN_INLINE void tile_for_neighbours(const tile_acc& acc, Body body) {
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
        body(tile_acc::row(i), tile_acc::col(i), from_float<T>(vec<float, 2>{{acc.value[i], acc.value[i + 1]}}));
    }
}

}  // namespace kiln

#include "device/warpgroup.h"

#endif
