// Tiles on AMD's gfx11: v_wmma_f32_16x16x16. "RDNA3" Instruction Set Architecture, "Wave Matrix Multiply
// Accumulate (WMMA)", and AMD's "How to accelerate AI applications on RDNA 3 using WMMA": in wave32,
//   a    a lane holds row lane % 16, its 16 columns in order; lanes 16 to 31 repeat lanes 0 to 15
//   b    a lane holds column lane % 16, its 16 rows in order; repeated likewise
//   acc  element i of a lane is (2 i + lane / 16, lane % 16)
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
    static constexpr int elements = 8;
    float value[8];
    KILN_MEMBER static int row(int i) { return i * 2 + (int)lane() / 16; }
    KILN_MEMBER static int col(int) { return (int)lane() % 16; }
};

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
        result = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(bits_as<half_line>(a), bits_as<half_line>(b),
                                                            result);
    } else {
        result = __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(bits_as<bfloat16_line>(a),
                                                             bits_as<bfloat16_line>(b), result);
    }
    copy_bytes<sizeof(acc)>(&acc, &result);
#else
    static_assert(sizeof(T) == 0, "tiles need the wave matrix instructions of gfx11");
#endif
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
    } else {
#pragma unroll
        for (int i = 0; i < 16; ++i) tile.value[i] = from[i * leading + tile_b<T>::col(0)];
    }
}

}  // namespace kiln

#endif
