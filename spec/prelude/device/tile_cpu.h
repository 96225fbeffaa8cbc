// Tiles on the cpu device: the lanes of a warp hold them as on NVIDIA's tensor cores (device/tile_cuda.h), so
// that code which takes a lane's elements for others' fails here too. mma() brings all elements together.
#ifndef KILN_DEVICE_TILE_CPU_H
#define KILN_DEVICE_TILE_CPU_H

namespace kiln {

// A 16 x 16 tile of the left matrix: rows of the product, columns of the sum.
template <class T> struct tile_a {
    static constexpr int elements = 8;
    T value[8];
    KILN_MEMBER static int row(int i) { return (int)lane() / 4 + i / 2 % 2 * 8; }
    KILN_MEMBER static int col(int i) { return (int)lane() % 4 * 2 + i % 2 + i / 4 * 8; }
};
// A 16 x 16 tile of the right matrix: rows of the sum, columns of the product.
template <class T> struct tile_b {
    static constexpr int elements = 8;
    T value[8];
    KILN_MEMBER static int row(int i) { return (int)lane() % 4 * 2 + i % 2 + i / 2 % 2 * 8; }
    KILN_MEMBER static int col(int i) { return (int)lane() / 4 + i / 4 * 8; }
};
// A 16 x 16 tile of the product.
struct tile_acc {
    static constexpr int elements = 8, held_rows = 2;
    float value[8];
    KILN_MEMBER static int row(int i) { return (int)lane() / 4 + i / 2 % 2 * 8; }
    KILN_MEMBER static int col(int i) { return (int)lane() % 4 * 2 + i % 2 + i / 4 * 8; }
    KILN_MEMBER static int held_row(int i) { return i / 2 % 2; }
};

// What the lanes of a warp bring to a product: rows of a, and columns of b.
struct tile_exchange {
    float rows[tile_size][tile_size];
    float cols[tile_size][tile_size];
};
KILN_INLINE tile_exchange& warp_exchange() {
    static tile_exchange kiln_cpu_tiles[KILN_CPU_MAX_THREADS / 32];
    return kiln_cpu_tiles[warp()];
}

// acc += a * b. Products of 16-bit floats are exact in float; they are added one by one.
template <class T> inline __attribute__((noinline)) void mma(tile_acc& acc, const tile_a<T>& a, const tile_b<T>& b) {
    tile_exchange& all = warp_exchange();
    for (int i = 0; i < 8; ++i) {
        all.rows[tile_a<T>::row(i)][tile_a<T>::col(i)] = to_float(a.value[i]);
        all.cols[tile_b<T>::col(i)][tile_b<T>::row(i)] = to_float(b.value[i]);
    }
    __syncwarp();
    for (int i = 0; i < 8; ++i) {
        const float *row = all.rows[tile_acc::row(i)], *col = all.cols[tile_acc::col(i)];
        float sum = 0.0f;
        for (int k = 0; k < tile_size; ++k) sum += row[k] * col[k];
        acc.value[i] += sum;
    }
    __syncwarp();
}

// Reads a tile from shared memory, where `from` and every row (or column) begin at a multiple of 16 bytes.
template <layout order, class Tile, class T>
KILN_INLINE void tile_load_shared(Tile& tile, const T* from, int leading) {
#if KILN_CPU_CHECK
    if ((uintptr_t)from % 16 || leading * (int)sizeof(T) % 16) {
        kiln_cpu_fail("tile_load_shared() of rows that do not begin at a multiple of 16 bytes");
    }
#endif
    for (int i = 0; i < Tile::elements; ++i) {
        tile.value[i] = from[tile_offset<order>(Tile::row(i), Tile::col(i), leading)];
    }
}

// The lanes that hold the same rows.
template <class Combine> KILN_INLINE float tile_reduce_held_row(float value, Combine combine) {
    return warp_reduce<4>(value, combine);
}

// The accumulator's elements are those of the left tile.
template <class T> KILN_INLINE tile_a<T> tile_to_a(const tile_acc& acc) {
    tile_a<T> tile;
    for (int i = 0; i < 8; ++i) tile.value[i] = from_float<T>(acc.value[i]);
    return tile;
}

// Calls body(row, col, vec) for the neighbours of a row that this lane can write at once.
template <class T> constexpr int tile_neighbours = 2;
template <class T, class Body> KILN_INLINE void tile_for_neighbours(const tile_acc& acc, Body body) {
    for (int i = 0; i < 8; i += 2) {
        body(tile_acc::row(i), tile_acc::col(i), from_float<T>(vec<float, 2>{{acc.value[i], acc.value[i + 1]}}));
    }
}

}  // namespace kiln

#endif
