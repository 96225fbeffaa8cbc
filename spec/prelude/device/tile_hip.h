// Tiles on AMD's gfx11: v_wmma_f32_16x16x16. "RDNA3" Instruction Set Architecture, "Wave Matrix Multiply
// Accumulate (WMMA)", and AMD's "How to accelerate AI applications on RDNA 3 using WMMA": in wave32,
//   a    a lane holds row lane % 16, its 16 columns in order; lanes 16 to 31 repeat lanes 0 to 15
//   b    a lane holds column lane % 16, its 16 rows in order; repeated likewise
//   acc  element i of a lane is (2 i + lane / 16, lane % 16)
// a and b lie alike, so the instruction is given b and a: its result is the transposed product, and a lane's elements of
// the product are in one row. A row is then written in one piece, reduced with one exchange between lanes, and turned
// into a row of the left tile of another product.
#ifndef KILN_DEVICE_TILE_HIP_H
#define KILN_DEVICE_TILE_HIP_H

namespace kiln {

// A 16 x 16 tile of the left matrix: rows of the product, columns of the sum.
template <class T> struct alignas(32) tile_a {
    static constexpr int elements = 16;
    T value[16];
    KILN_MEMBER static int row(int) { return (int)lane() % 16; }
    KILN_MEMBER static int col(int i) { return i; }
};
// A 16 x 16 tile of the right matrix: rows of the sum, columns of the product.
template <class T> struct alignas(32) tile_b {
    static constexpr int elements = 16;
    T value[16];
    KILN_MEMBER static int row(int i) { return i; }
    KILN_MEMBER static int col(int) { return (int)lane() % 16; }
};
// A 16 x 16 tile of the product.
struct alignas(32) tile_acc {
    static constexpr int elements = 8, held_rows = 1;
    float value[8];
    KILN_MEMBER static int row(int) { return (int)lane() % 16; }
    KILN_MEMBER static int col(int i) { return i * 2 + (int)lane() / 16; }
    KILN_MEMBER static int held_row(int) { return 0; }
};

#if defined(KILN_CPU)
#include "device/tile_gfx11_cpu.h"
#else
typedef _Float16 half_line __attribute__((ext_vector_type(16)));
typedef short bfloat16_line __attribute__((ext_vector_type(16)));
typedef float acc_line __attribute__((ext_vector_type(8)));

// acc += a * b.
template <class T> KILN_INLINE void mma(tile_acc& acc, const tile_a<T>& a, const tile_b<T>& b) {
    static_assert(same_type<T, __half> || same_type<T, __nv_bfloat16>,
                  "tiles are of __half or __nv_bfloat16");
#if defined(__GFX11__)
    acc_line result = bits_as<acc_line>(acc);
    if constexpr (same_type<T, __half>) {
        result = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(bits_as<half_line>(b), bits_as<half_line>(a),
                                                            result);
    } else {
        result = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(bits_as<bfloat16_line>(b),
                                                             bits_as<bfloat16_line>(a), result);
    }
    copy_bytes<sizeof(acc)>(&acc, &result);
#else
    static_assert(sizeof(T) == 0, "tiles need the wave matrix instructions of gfx11");
#endif
}

// What the other lane of a row brings.
KILN_INLINE unsigned int other_half(unsigned int word) {
    unsigned int other =
        __builtin_amdgcn_permlanex16(word, word, 0x76543210u, 0xfedcba98u, false, false);
    // clang 19 moves the exchange behind a later branch that only one half takes, although it is convergent; the value of
    // a lane that does not take the branch is then lost. It does not move a volatile asm, nor what that reads.
    asm volatile("" : "+v"(other));
    return other;
}
#endif

template <class T> KILN_INLINE T from_other_half(const T& value) {
    return shuffle_words(value, [](unsigned int word) { return other_half(word); });
}

// Sixteen neighbouring elements in two operations.
template <class T> KILN_INLINE void load_line(T (&line)[16], const T* from) {
    vec<T, 8> low = load_aligned<8>(from), high = load_aligned<8>(from + 8);
    copy_bytes<sizeof(low)>(line, &low);
    copy_bytes<sizeof(high)>(line + 8, &high);
}

// Reads a tile from shared memory, where `from` and every row (or column) begin at a multiple of 16 bytes.
template <layout order, class T>
KILN_INLINE void tile_load_shared(tile_a<T>& tile, const T* from, int leading) {
    static_assert(order != layout::row_pairs, "only right tiles lie in pairs of rows");
    if constexpr (order == layout::row_major) {
        load_line(tile.value, from + tile_a<T>::row(0) * leading);
    } else {
#pragma unroll
        for (int i = 0; i < 16; ++i) tile.value[i] = from[i * leading + tile_a<T>::row(0)];
    }
}
template <layout order, class T>
KILN_INLINE void tile_load_shared(tile_b<T>& tile, const T* from, int leading) {
    if constexpr (order == layout::col_major) {
        load_line(tile.value, from + tile_b<T>::col(0) * leading);
    } else if constexpr (order == layout::row_pairs) {
#pragma unroll
        for (int i = 0; i < 16; i += 2) load_row_pair<order>(tile, i, from, leading);
    } else {
#pragma unroll
        for (int i = 0; i < 16; ++i) tile.value[i] = from[i * leading + tile_b<T>::col(0)];
    }
}

// Two lanes hold each row.
template <class Combine> KILN_INLINE float tile_reduce_held_row(float value, Combine combine) {
    const float other = from_other_half(value);
    const bool upper = lane() >= 16;
    return combine(upper ? other : value, upper ? value : other);
}

// The columns of both lanes of a row in turn: the lower lane has the even ones.
template <class T, int N> KILN_INLINE vec<T, N * 2> in_turn(const vec<T, N>& mine, const vec<T, N>& other) {
    const bool upper = lane() >= 16;
    vec<T, N * 2> result;
#pragma unroll
    for (int i = 0; i < N; ++i) {
        result.value[2 * i] = upper ? other.value[i] : mine.value[i];
        result.value[2 * i + 1] = upper ? mine.value[i] : other.value[i];
    }
    return result;
}

template <class T> KILN_INLINE vec<T, 8> tile_held(const tile_acc& acc) {
    return from_float<T>(bits_as<vec<float, 8>>(acc.value));
}

template <class T> KILN_INLINE tile_a<T> tile_to_a(const tile_acc& acc) {
    const vec<T, 8> mine = tile_held<T>(acc);
    return bits_as<tile_a<T>>(in_turn(mine, from_other_half(mine)));
}

// Calls body(row, col, vec) for the neighbours of a row that this lane can write at once: 16 bytes. The lower lane of a
// row has its first eight columns, the upper one the others.
template <class T> constexpr int tile_neighbours = 16 / (int)sizeof(T);
template <class T, class Body> KILN_INLINE void tile_for_neighbours(const tile_acc& acc, Body body) {
    const vec<T, 8> held = tile_held<T>(acc);
    const bool upper = lane() >= 16;
    vec<T, 4> keep, give;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        keep.value[i] = upper ? held.value[i + 4] : held.value[i];
        give.value[i] = upper ? held.value[i] : held.value[i + 4];
    }
    const vec<T, 8> line = in_turn(keep, from_other_half(give));
    constexpr int width = tile_neighbours<T>;
#pragma unroll
    for (int first = 0; first < 8; first += width) {
        vec<T, width> part;
        copy_bytes<sizeof(part)>(&part, line.value + first);
        body(tile_acc::row(0), (upper ? 8 : 0) + first, part);
    }
}

}  // namespace kiln

#endif
