// Products of 16 x 16 tiles by a warp: acc += a * b, a and b of 16-bit floats, acc of floats.
//
// A tile is spread over the 32 lanes of a warp: each lane holds `elements` of it in `value`, and row(i) and
// col(i) say where in the tile the calling lane's element i stands. The spread differs between targets; on
// some, several lanes hold the same element of a or b. Only mma() lets lanes wait for each other, but all
// lanes of the warp must take part in everything that is done to a tile.
#ifndef KILN_DEVICE_TILE_H
#define KILN_DEVICE_TILE_H

namespace kiln {

// How a matrix lies in memory: element (row, col) is at row * leading + col, or at col * leading + row. In row_pairs the
// elements of two rows, of which the first is even, lie in turns: at (row / 2 * leading + col) * 2 + row % 2.
enum class layout { row_major, col_major, row_pairs };

// The layout from which tile_load_shared reads a right tile with the fewest instructions, if the matrix is copied to shared
// memory by rows. On gfx11 a lane holds a column: it reads two elements at a time from row_pairs, and one from row_major.
#if defined(KILN_HIP) || defined(KILN_CPU_TILES_OF_GFX11)
constexpr layout right_layout = layout::row_pairs;
#else
constexpr layout right_layout = layout::row_major;
#endif

constexpr int tile_size = 16;

template <layout order> KILN_INLINE size_t tile_offset(int row, int col, int leading) {
    if constexpr (order == layout::row_pairs) {
        return ((size_t)(row / 2) * leading + col) * 2 + row % 2;
    }
    return order == layout::row_major ? (size_t)row * leading + col : (size_t)col * leading + row;
}

// Elements `i` and `i + 1` of a right tile, which stand in a pair of rows.
template <layout order, class Tile, class T>
KILN_INLINE void load_row_pair(Tile& tile, int i, const T* from, int leading) {
    static_assert(order == layout::row_pairs, "only there do they lie side by side");
    const vec<T, 2> pair = load_aligned<2>(from + tile_offset<order>(Tile::row(i), Tile::col(i), leading));
    copy_bytes<sizeof(pair)>(tile.value + i, &pair);
}

}  // namespace kiln

#if defined(KILN_CUDA)
#include "device/tile_cuda.h"
#elif defined(KILN_HIP) || defined(KILN_CPU_TILES_OF_GFX11)
#include "device/tile_hip.h"
#else
#include "device/tile_cpu.h"
#endif

namespace kiln {

// Reads this lane's elements of a tile, wherever the matrix lies.
template <layout order, class Tile, class T>
KILN_INLINE void tile_load(Tile& tile, const T* from, int leading) {
#pragma unroll
    for (int i = 0; i < Tile::elements; ++i) {
        tile.value[i] = from[tile_offset<order>(Tile::row(i), Tile::col(i), leading)];
    }
}

// The same of the first `rows` rows and `cols` columns; zero elsewhere, where nothing is read.
template <layout order, class Tile, class T>
KILN_INLINE void tile_load_part(Tile& tile, const T* from, int leading, int rows, int cols) {
#pragma unroll
    for (int i = 0; i < Tile::elements; ++i) {
        const int row = Tile::row(i), col = Tile::col(i);
        T element = from_float<T>(0.0f);
        if (row < rows && col < cols) element = from[tile_offset<order>(row, col, leading)];
        tile.value[i] = element;
    }
}

// Every element of an accumulator.
KILN_INLINE void tile_fill(tile_acc& tile, float value) {
#pragma unroll
    for (int i = 0; i < tile_acc::elements; ++i) tile.value[i] = value;
}

// An accumulator's rows are spread over lanes. This lane has elements of `held_rows` of them, of which held_row(i) is the
// one of element i. Combines a value for each of them over the lanes that have elements of the same row, for all of
// these lanes.
template <class Combine> KILN_INLINE void tile_reduce_rows(float (&values)[tile_acc::held_rows], Combine combine) {
#pragma unroll
    for (int row = 0; row < tile_acc::held_rows; ++row) values[row] = tile_reduce_held_row(values[row], combine);
}

// Every row of an accumulator times its factor.
KILN_INLINE void tile_scale_rows(tile_acc& tile, const float (&factors)[tile_acc::held_rows]) {
#pragma unroll
    for (int i = 0; i < tile_acc::elements; ++i) tile.value[i] *= factors[tile_acc::held_row(i)];
}

// Writes the first `rows` rows and `cols` columns of an accumulator, rounded to the matrix's type; writes nothing else.
// ALIGNED says that `to`, `leading` and `cols` are multiples of so many elements: rows are then written in larger pieces.
template <layout order, int ALIGNED = 1, class T>
KILN_INLINE void tile_store_part(T* to, int leading, const tile_acc& tile, int rows, int cols) {
    if constexpr (order == layout::row_major && ALIGNED >= tile_neighbours<T>) {
        tile_for_neighbours<T>(tile, [=](int row, int col, auto elements) {
            if (row < rows && col < cols) store_aligned(to + tile_offset<order>(row, col, leading), elements);
        });
        return;
    }
#pragma unroll
    for (int i = 0; i < tile_acc::elements; ++i) {
        const int row = tile_acc::row(i), col = tile_acc::col(i);
        if (row < rows && col < cols) {
            to[tile_offset<order>(row, col, leading)] = from_float<T>(tile.value[i]);
        }
    }
}

// The same of all rows and columns.
template <layout order, int ALIGNED = 1, class T>
KILN_INLINE void tile_store(T* to, int leading, const tile_acc& tile) {
    tile_store_part<order, ALIGNED>(to, leading, tile, tile_size, tile_size);
}

}  // namespace kiln

#endif
