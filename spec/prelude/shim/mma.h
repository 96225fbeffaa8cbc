// nvcuda::wmma on Kiln's tiles (device/tile.h): products of 16-bit floats, by CUDA's Programming Guide, "Warp Matrix
// Functions". Which lane holds which element differs between targets, as CUDA says it may.
#ifndef KILN_SHIM_MMA_H
#define KILN_SHIM_MMA_H

#include "kiln.cuh"

namespace nvcuda {
namespace wmma {

enum layout_t { mem_row_major, mem_col_major };
struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};

// The tiles that a fragment is made of, and the part of the last one that it fills.
template <class Use, int M, int N, int K> struct kiln_extent;
template <int M, int N, int K> struct kiln_extent<matrix_a, M, N, K> { static constexpr int rows = M, cols = K; };
template <int M, int N, int K> struct kiln_extent<matrix_b, M, N, K> { static constexpr int rows = K, cols = N; };
template <int M, int N, int K> struct kiln_extent<accumulator, M, N, K> { static constexpr int rows = M, cols = N; };
template <class Use, class T> struct kiln_tile_of;
template <class T> struct kiln_tile_of<matrix_a, T> { typedef kiln::tile_a<T> type; };
template <class T> struct kiln_tile_of<matrix_b, T> { typedef kiln::tile_b<T> type; };
template <class T> struct kiln_tile_of<accumulator, T> { typedef kiln::tile_acc type; };

template <class Layout> constexpr bool kiln_by_rows = kiln::same_type<Layout, row_major>;

template <class Use, int M, int N, int K, class T, class Layout = void> struct fragment {
    static_assert((M == 16 && N == 16 || M == 32 && N == 8 || M == 8 && N == 32) && K == 16,
                  "on this target fragments are 16x16x16, 32x8x16 or 8x32x16: other shapes need `only(cuda)`");
    static_assert(kiln::same_type<T, __half> || kiln::same_type<T, __nv_bfloat16> ||
                      (kiln::same_type<Use, accumulator> && kiln::same_type<T, float>),
                  "on this target fragments are of __half or __nv_bfloat16, accumulators of float or __half: other types "
                  "need `only(cuda)`");
    typedef T element_type;
    typedef T storage_element_type;
    typedef typename kiln_tile_of<Use, T>::type kiln_tile;
    typedef kiln_extent<Use, M, N, K> kiln_size;
    static constexpr int kiln_across = (kiln_size::cols + 15) / 16;
    static constexpr int kiln_tiles = (kiln_size::rows + 15) / 16 * kiln_across;
    static constexpr int num_elements = kiln_tiles * kiln_tile::elements;
    static constexpr int num_storage_elements = num_elements;
    T x[num_elements];

    // Where element `i` of this lane stands in the matrix, and whether it stands there at all.
    KILN_MEMBER static int kiln_row(int i) {
        return i / kiln_tile::elements / kiln_across * 16 + kiln_tile::row(i % kiln_tile::elements);
    }
    KILN_MEMBER static int kiln_col(int i) {
        return i / kiln_tile::elements % kiln_across * 16 + kiln_tile::col(i % kiln_tile::elements);
    }
    KILN_MEMBER static bool kiln_is_inside(int i) {
        return kiln_row(i) < kiln_size::rows && kiln_col(i) < kiln_size::cols;
    }
};

template <class T> KILN_INLINE float kiln_as_float(T x) { return kiln::to_float(x); }

template <class Use, int M, int N, int K, class T, class Layout, class Value>
KILN_INLINE void fill_fragment(fragment<Use, M, N, K, T, Layout>& to, const Value& value) {
#pragma unroll
    for (int i = 0; i < to.num_elements; ++i) to.x[i] = (T)value;
}

// Lanes of the warp have written what is read, and have read what is written next.
template <class Fragment, class T>
KILN_INLINE void kiln_load(Fragment& to, const T* from, unsigned int leading, bool by_rows) {
    __syncwarp();
#pragma unroll
    for (int i = 0; i < to.num_elements; ++i) {
        const size_t row = (size_t)Fragment::kiln_row(i), col = (size_t)Fragment::kiln_col(i);
        T element = kiln::from_float<T>(0.0f);
        if (Fragment::kiln_is_inside(i)) element = from[by_rows ? row * leading + col : col * leading + row];
        to.x[i] = element;
    }
    __syncwarp();
}
template <class Use, int M, int N, int K, class T, class Layout>
KILN_INLINE void load_matrix_sync(fragment<Use, M, N, K, T, Layout>& to, const T* from, unsigned int leading) {
    kiln_load(to, from, leading, kiln_by_rows<Layout>);
}
template <int M, int N, int K, class T>
KILN_INLINE void load_matrix_sync(fragment<accumulator, M, N, K, T>& to, const T* from, unsigned int leading,
                                  layout_t order) {
    kiln_load(to, from, leading, order == mem_row_major);
}
template <int M, int N, int K, class T>
KILN_INLINE void store_matrix_sync(T* to, const fragment<accumulator, M, N, K, T>& from, unsigned int leading,
                                   layout_t order) {
    typedef fragment<accumulator, M, N, K, T> source;
    __syncwarp();
#pragma unroll
    for (int i = 0; i < source::num_elements; ++i) {
        const size_t row = (size_t)source::kiln_row(i), col = (size_t)source::kiln_col(i);
        if (source::kiln_is_inside(i)) to[order == mem_row_major ? row * leading + col : col * leading + row] = from.x[i];
    }
    __syncwarp();
}

// d = a * b + c. Sums are of floats; an accumulator of __half is rounded once.
template <int M, int N, int K, class D, class T, class LayoutA, class LayoutB, class C>
KILN_INLINE void mma_sync(fragment<accumulator, M, N, K, D>& d, const fragment<matrix_a, M, N, K, T, LayoutA>& a,
                          const fragment<matrix_b, M, N, K, T, LayoutB>& b,
                          const fragment<accumulator, M, N, K, C>& c, bool = false) {
    typedef fragment<accumulator, M, N, K, D> product;
#pragma unroll
    for (int tile = 0; tile < product::kiln_tiles; ++tile) {
        kiln::tile_a<T> left;
        kiln::tile_b<T> right;
        kiln::tile_acc sum;
        const int across = tile % product::kiln_across, down = tile / product::kiln_across;
#pragma unroll
        for (int i = 0; i < left.elements; ++i) left.value[i] = a.x[down * left.elements + i];
#pragma unroll
        for (int i = 0; i < right.elements; ++i) right.value[i] = b.x[across * right.elements + i];
#pragma unroll
        for (int i = 0; i < sum.elements; ++i) sum.value[i] = kiln_as_float(c.x[tile * sum.elements + i]);
        kiln::mma(sum, left, right);
#pragma unroll
        for (int i = 0; i < sum.elements; ++i) d.x[tile * sum.elements + i] = kiln::from_float<D>(sum.value[i]);
    }
}

}  // namespace wmma
}  // namespace nvcuda

#endif
