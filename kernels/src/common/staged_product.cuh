#pragma once
// A sum of products of tiles from global memory. STAGES pairs of tiles are in dynamic shared memory: while one pair is
// multiplied, the next pairs are copied.
//
// Tunable parameters, in addition to those of block_product.cuh:
//   STAGES  pairs of tiles in shared memory: STAGES * (BLOCK_M * (BLOCK_K + CHUNK) + BLOCK_K * (BLOCK_N + CHUNK))
//           elements, and without CHUNK if TILES is 2

#include "block_product.cuh"

// Neighbouring elements in global memory. Only the first `count` of them exist; the others are treated as zero.
struct Piece {
    const T* from;
    unsigned int count;
};

// The first row that a thread copies. `place` is the thread's number / ACROSS; a row has ACROSS pieces of 16 bytes and
// one piece of padding. Eight neighbouring threads write to shared memory at once. If these threads copy more than one
// row, the rows are ACROSS apart, so that they share no bank: piece p of row r begins at bank 4 * ((ACROSS + 1) * r +
// p).
template <int ACROSS, int DOWN>
static __device__ __forceinline__ int first_row_of(int place)
{
#if !defined(KILN_CPU)
    if (ACROSS < 8 && DOWN % 8 == 0) {
        constexpr int AT_ONCE = ACROSS < 8 ? 8 / ACROSS : 1;
        return place / 8 * 8 + place % AT_ONCE * ACROSS + place % 8 / AT_ONCE;
    }
#endif
    return place;
}

// The copy of one piece of a tile that is stored row by row.
template <kiln::layout LAYOUT> struct PieceCopy {
    static constexpr int ROWS = 1;
    kiln::staged_copy<CHUNK, T> copy;

    template <class Pieces> __device__ __forceinline__ void begin(T* to, Pieces piece, int row, int col)
    {
        const Piece from = piece(row, col);
        copy.begin(to, from.from, from.count > 0);
    }
};

// The copy of the pieces of a pair of rows.
template <> struct PieceCopy<kiln::layout::row_pairs> {
    static constexpr int ROWS = 2;
    kiln::staged_pair_copy<CHUNK, T> copy;

    template <class Pieces> __device__ __forceinline__ void begin(T* to, Pieces piece, int row, int col)
    {
        const Piece even = piece(row, col), odd = piece(row + 1, col);
        copy.begin(to, even.from, even.count > 0, odd.from, odd.count > 0);
    }
};

// The places of the elements of a tile whose rows are padded.
template <kiln::layout LAYOUT, int LEADING> struct PaddedTile {
    static constexpr kiln::layout LAYOUT_OF_PIECES = LAYOUT;

    template <int ACROSS, int DOWN> __device__ __forceinline__ static int first_row(int place)
    {
        return first_row_of<ACROSS, DOWN>(place);
    }
    __device__ __forceinline__ static int offset(int row, int col)
    {
        return (int)kiln::tile_offset<LAYOUT>(row, col, LEADING);
    }
};

// The places of the elements of a swizzled tile, in which no neighbouring pieces share a bank.
template <class Tile> struct SwizzledTile {
    static constexpr kiln::layout LAYOUT_OF_PIECES = kiln::layout::row_major;

    template <int ACROSS, int DOWN> __device__ __forceinline__ static int first_row(int place) { return place; }
    __device__ __forceinline__ static int offset(int row, int col) { return Tile::offset(row, col); }
};

// Copies a tile of ROWS x COLS elements. `piece(row, col)` returns CHUNK elements at a time. If `whole` is true, every
// piece exists completely or not at all, and is aligned to 16 bytes; `whole` is the same for all threads. The copy of
// whole pieces continues while the code between begin() and end() runs.
//
// The number of turns is a constant, so that all indices are known at compile time. Otherwise a step of the product
// would spend its instructions on these indices. For the same reason, single elements are copied in a separate loop
// that is not unrolled.
template <class Tile, int ROWS, int COLS> class TileCopy {
    using Copy = PieceCopy<Tile::LAYOUT_OF_PIECES>;
    static constexpr int ACROSS = COLS / CHUNK, DOWN = THREADS / ACROSS * Copy::ROWS, TURNS = (ROWS + DOWN - 1) / DOWN;
    static_assert(THREADS % ACROSS == 0, "threads copy whole rows of pieces");

    Copy copies[TURNS];

    __device__ __forceinline__ static int first_row()
    {
        return Tile::template first_row<ACROSS, THREADS / ACROSS>((int)threadIdx.x / ACROSS) * Copy::ROWS;
    }
    __device__ __forceinline__ static int col() { return (int)threadIdx.x % ACROSS * CHUNK; }
    __device__ __forceinline__ static int place(int row, int col)
    {
        return Tile::offset(row, col);
    }

    // Calls `body(turn, row)` for each row, or pair of rows, that this thread copies.
    template <class Body> __device__ __forceinline__ static void for_rows(Body body)
    {
#pragma unroll
        for (int turn = 0; turn < TURNS; ++turn) {
            const int row = first_row() + turn * DOWN;
            if (ROWS % DOWN == 0 || row < ROWS) {
                body(turn, row);
            }
        }
    }

public:
    template <class Pieces> __device__ __forceinline__ void begin(T* to, Pieces piece, bool whole)
    {
        if (whole) {
            for_rows([&](int turn, int row) { copies[turn].begin(to + place(row, col()), piece, row, col()); });
            return;
        }
#pragma unroll 1
        for (int row = (int)threadIdx.x / ACROSS; row < ROWS; row += THREADS / ACROSS) {
            const Piece from = piece(row, col());
#pragma unroll 1
            for (int i = 0; i < CHUNK; ++i) {
                const bool is_there = (unsigned int)i < from.count;
                to[place(row, col() + i)] = is_there ? from.from[i] : kiln::from_float<T>(0.0f);
            }
        }
    }

    __device__ __forceinline__ void end(T* to, bool whole)
    {
        if (kiln::staged_copy<CHUNK, T>::writes_at_end && whole) {
            for_rows([&](int turn, int row) { copies[turn].copy.end(to + place(row, col())); });
        }
    }
};

// The sum over `steps` steps of the products of two tiles. `a(step, row, col)` and `b(step, row, col)` return the
// pieces of the tiles. `col` is a multiple of CHUNK.
template <class A, class B>
static __device__ __forceinline__ Product sum_of_products(unsigned int steps, A a, bool whole_a, B b, bool whole_b)
{
#if TILES == 2
    constexpr int SIZE_A = BLOCK_M * BLOCK_K, SIZE_B = BLOCK_K * BLOCK_N;
    T* const a_tiles = kiln::swizzled_shared<T>();
    using TileA = SwizzledTile<Product::TileA>;
    using TileB = SwizzledTile<Product::TileB>;
#else
    constexpr int SIZE_A = BLOCK_M * LEADING_A, SIZE_B = BLOCK_K * LEADING_B;
    T* const a_tiles = kiln::dynamic_shared<T>();
    using TileA = PaddedTile<kiln::layout::row_major, LEADING_A>;
    using TileB = PaddedTile<LAYOUT_B, LEADING_B>;
#endif
    T* const b_tiles = a_tiles + STAGES * SIZE_A;
    const auto a_tile = [&](unsigned int step) { return a_tiles + step % STAGES * SIZE_A; };
    const auto b_tile = [&](unsigned int step) { return b_tiles + step % STAGES * SIZE_B; };
    TileCopy<TileA, BLOCK_M, BLOCK_K> copy_a;
    TileCopy<TileB, BLOCK_K, BLOCK_N> copy_b;
    const auto begin = [&](unsigned int step) {
        copy_a.begin(a_tile(step), [&](int row, int col) { return a(step, row, col); }, whole_a);
        copy_b.begin(b_tile(step), [&](int row, int col) { return b(step, row, col); }, whole_b);
    };
    const auto end = [&](unsigned int step) {
        copy_a.end(a_tile(step), whole_a);
        copy_b.end(b_tile(step), whole_b);
    };

    Product product;
    product.clear();
#if TILES == 2
    // From three stages on, the product of a step is still running while the next one begins. Its pair of tiles is then
    // taken by a copy only two steps later.
    constexpr int RUNNING = STAGES > 2 ? 1 : 0, AHEAD = STAGES > 1 ? STAGES - 1 - RUNNING : 1;
    for (unsigned int step = 0; step < AHEAD; ++step) {
        if (step < steps) {
            begin(step);
        }
        kiln::copy_commit();
    }
    for (unsigned int step = 0; step < steps; ++step) {
        kiln::copy_wait<AHEAD - 1>();
        kiln::async_proxy_fence();
        // All tiles of this step are there, and all warps have seen the end of the product before the last one.
        __syncthreads();
        product.begin(a_tile(step), b_tile(step));
        const unsigned int next = step + AHEAD;
        if (STAGES > 1 && next < steps) {
            begin(next);
        }
        kiln::warpgroup_wait<RUNNING>();
        if (STAGES == 1 && next < steps) {
            __syncthreads();
            begin(next);
        }
        kiln::copy_commit();
    }
    product.end();
    return product;
#else
    for (unsigned int step = 0; step + 1 < STAGES; ++step) {
        if (step < steps) {
            begin(step);
            end(step);
        }
        kiln::copy_commit();
    }
    for (unsigned int step = 0; step < steps; ++step) {
#if STAGES == 1
        begin(step);
        end(step);
        kiln::copy_commit();
        kiln::copy_wait<0>();
        __syncthreads();
        product.add(a_tile(step), b_tile(step));
        __syncthreads();
#else
        kiln::copy_wait<STAGES - 2>();
        // Wait until all threads have multiplied the pair of the last step. The next pair may then replace it.
        __syncthreads();
        const unsigned int next = step + STAGES - 1;
        if (next < steps) {
            begin(next);
        }
        product.add(a_tile(step), b_tile(step));
        if (next < steps) {
            end(next);
        }
        kiln::copy_commit();
#endif
    }
    return product;
#endif
}
