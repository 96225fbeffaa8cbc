// Products by a warpgroup (four warps) of tiles in shared memory, on GPUs of compute capability 9.0: wgmma.mma_async
// of PTX ISA 9.7.15. KILN_HAS_WARPGROUPS is defined where they exist, and nowhere else is any of this declared.
//
// acc += a * b, a of 64 x 16 and b of 16 x cols elements of 16 bits, acc of floats. The tiles lie swizzled in shared
// memory: pieces of 16 bytes change places within 128 bytes, so that neither copies nor products share a bank. A warp
// holds 16 of the 64 rows of acc, as tile_acc[cols / 16]: the elements of lanes are those of mma().
//
// The products read shared memory as another "proxy" than loads and copies do. In this order:
//   every thread   writes, or copies and waits for its copies; async_proxy_fence()
//   the block      __syncthreads()
//   every warp     warpgroup_begin(); warpgroup_mma() any number of times; warpgroup_commit()
//   every warp     warpgroup_wait<pending>(): products before the last pending groups are complete. Before, nothing may
//                  use their accumulators, and nothing may overwrite their tiles; other warps need a barrier behind it
//   every warp     warpgroup_results(acc), before it uses accumulators whose products are complete
#ifndef KILN_DEVICE_WARPGROUP_H
#define KILN_DEVICE_WARPGROUP_H

#if defined(KILN_CUDA) && defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define KILN_HAS_WARPGROUPS 1

namespace kiln {

constexpr int warpgroup_warps = 4, warpgroup_rows = 64;

// The number of this thread's warpgroup, which the compiler knows to be the same for all lanes.
KILN_INLINE int warpgroup() { return (int)__shfl_sync(0xffffffffu, warp() / warpgroup_warps, 0); }

// The block's dynamic shared memory, aligned to 1024 bytes: the swizzle of 128 bytes repeats after as many.
template <class T> KILN_INLINE T* swizzled_shared() {
    extern __shared__ __align__(1024) unsigned char kiln_swizzled_shared[];
    return reinterpret_cast<T*>(kiln_swizzled_shared);
}

// Rows of width elements, 16, 32 or 64 of them: 32, 64 or 128 bytes. The modes are those of matrix descriptors.
template <int width> struct swizzle {
    static_assert(width == 16 || width == 32 || width == 64, "rows of swizzled tiles have 32, 64 or 128 bytes");
    static constexpr int pieces = width / 8, mode = width == 64 ? 1 : width == 32 ? 2 : 3;
    // Eight rows, after which the pattern is another copy of itself, if the tile begins at a multiple of their bytes.
    static constexpr int eight_rows = 8 * width;

    // The place of an element in rows that follow each other. Bits 4 to 6 of the address change by its bits 7 to 9.
    KILN_MEMBER static int offset(int row, int col) {
        const int turn = row / (64 / width) % pieces;
        return row * width + ((col / 8) ^ turn) * 8 + col % 8;
    }

    // The descriptor of a matrix that begins at `from`; offsets in elements.
    template <class T> KILN_MEMBER static unsigned long long descriptor(const T* from, int leading, int stride) {
        const unsigned long long address = (unsigned int)__cvta_generic_to_shared(from);
        return (address & 0x3ffff) >> 4 | (unsigned long long)(leading / 8) << 16
               | (unsigned long long)(stride / 8) << 32 | (unsigned long long)mode << 62;
    }
};

// A left tile of any number of rows, of depth columns (k) each.
template <int depth> struct left_tile {
    using rows = swizzle<depth>;
    KILN_MEMBER static int offset(int row, int col) { return rows::offset(row, col); }
    // 64 rows from `row` on and 16 columns from `k` on; the first is a multiple of 8, the second of 16.
    template <class T> KILN_MEMBER static unsigned long long descriptor(const T* tile, int row, int k) {
        return rows::descriptor(tile + row * depth + k, 8, rows::eight_rows);
    }
};

// A right tile of depth rows (k), whose columns lie in groups of width: all rows of a group, then the next group.
template <int depth, int width> struct right_tile {
    using rows = swizzle<width>;
    KILN_MEMBER static int offset(int row, int col) {
        return col / width * (depth * width) + rows::offset(row, col % width);
    }
    // 16 rows from `k` on and any number of columns from `col` on; the first is a multiple of 16, the second of width.
    template <class T> KILN_MEMBER static unsigned long long descriptor(const T* tile, int k, int col) {
        return rows::descriptor(tile + col * depth + k * width, depth * width, rows::eight_rows);
    }
};

// The width of a right tile's groups, if a product has cols columns.
template <int cols> constexpr int right_width = cols < 64 ? cols : 64;

// Makes what this thread wrote to shared memory, and its copies that are complete, visible to products.
KILN_INLINE void async_proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

KILN_INLINE void warpgroup_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
KILN_INLINE void warpgroup_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending> KILN_INLINE void warpgroup_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// Keeps the compiler from moving what it does with accumulators across this place.
template <int tiles> KILN_INLINE void warpgroup_results(tile_acc (&acc)[tiles]) {
#pragma unroll
    for (int tile = 0; tile < tiles; ++tile) {
#pragma unroll
        for (int i = 0; i < tile_acc::elements; ++i) asm volatile("" : "+f"(acc[tile].value[i])::"memory");
    }
}

#define KILN_8_SUMS "%0, %1, %2, %3, %4, %5, %6, %7"
#define KILN_16_SUMS KILN_8_SUMS ", %8, %9, %10, %11, %12, %13, %14, %15"
#define KILN_32_SUMS \
    KILN_16_SUMS ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define KILN_64_SUMS                                                                                        \
    KILN_32_SUMS ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "       \
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define KILN_128_SUMS                                                                                       \
    KILN_64_SUMS ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "       \
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "         \
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "   \
                 "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, "     \
                 "%125, %126, %127"
#define KILN_1_TILE(at)                                                                                     \
    "+f"(acc[at].value[0]), "+f"(acc[at].value[1]), "+f"(acc[at].value[2]), "+f"(acc[at].value[3]),         \
        "+f"(acc[at].value[4]), "+f"(acc[at].value[5]), "+f"(acc[at].value[6]), "+f"(acc[at].value[7])
#define KILN_2_TILES(at) KILN_1_TILE(at), KILN_1_TILE(at + 1)
#define KILN_4_TILES(at) KILN_2_TILES(at), KILN_2_TILES(at + 2)
#define KILN_8_TILES(at) KILN_4_TILES(at), KILN_4_TILES(at + 4)
#define KILN_16_TILES(at) KILN_8_TILES(at), KILN_8_TILES(at + 8)

// Adds to the accumulators (the predicate), with both factors as they are (1, 1), a K-major (0) and b N-major (1).
#define KILN_WARPGROUP_MMA(type, n, sums, left, right, outputs)                                           \
    asm volatile("{\n.reg .pred adds;\nsetp.ne.b32 adds, 1, 0;\n"                                           \
                 "wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " {" sums "}, " left     \
                 ", " right ", adds, 1, 1, 0, 1;\n}"                                                        \
                 : outputs                                                                                  \
                 : "l"(a), "l"(b))

#define KILN_WARPGROUP_MMAS(type)                                                                           \
    if constexpr (tiles == 1) {                                                                             \
        KILN_WARPGROUP_MMA(type, "16", KILN_8_SUMS, "%8", "%9", KILN_1_TILE(0));                            \
    } else if constexpr (tiles == 2) {                                                                      \
        KILN_WARPGROUP_MMA(type, "32", KILN_16_SUMS, "%16", "%17", KILN_2_TILES(0));                        \
    } else if constexpr (tiles == 4) {                                                                      \
        KILN_WARPGROUP_MMA(type, "64", KILN_32_SUMS, "%32", "%33", KILN_4_TILES(0));                        \
    } else if constexpr (tiles == 8) {                                                                      \
        KILN_WARPGROUP_MMA(type, "128", KILN_64_SUMS, "%64", "%65", KILN_8_TILES(0));                       \
    } else {                                                                                                \
        KILN_WARPGROUP_MMA(type, "256", KILN_128_SUMS, "%128", "%129", KILN_16_TILES(0));                   \
    }

// acc += a * b, for the descriptors of 64 rows of a left tile and of 16 * tiles columns of a right tile.
template <class T, int tiles>
KILN_INLINE void warpgroup_mma(tile_acc (&acc)[tiles], unsigned long long a, unsigned long long b) {
    static_assert(tiles == 1 || tiles == 2 || tiles == 4 || tiles == 8 || tiles == 16,
                  "products have 16, 32, 64, 128 or 256 columns");
    static_assert(sizeof(T) == 2, "tiles are of __half or __nv_bfloat16");
#ifdef KILN_HAS_HALF
    if constexpr (same_type<T, __half>) {
        KILN_WARPGROUP_MMAS("f16")
    }
#endif
#ifdef KILN_HAS_BFLOAT16
    if constexpr (same_type<T, __nv_bfloat16>) {
        KILN_WARPGROUP_MMAS("bf16")
    }
#endif
}

#undef KILN_WARPGROUP_MMAS
#undef KILN_WARPGROUP_MMA
#undef KILN_16_TILES
#undef KILN_8_TILES
#undef KILN_4_TILES
#undef KILN_2_TILES
#undef KILN_1_TILE
#undef KILN_128_SUMS
#undef KILN_64_SUMS
#undef KILN_32_SUMS
#undef KILN_16_SUMS
#undef KILN_8_SUMS

}  // namespace kiln

#endif

#endif
