// Blocks whose threads combine values through shared memory. Every thread of the block must take part.
#ifndef KILN_DEVICE_BLOCK_H
#define KILN_DEVICE_BLOCK_H

namespace kiln {

// What a row's warps bring: a row of THREADS threads that are whole warps.
template <int THREADS, int ROWS, class T, class Combine>
KILN_INLINE T combine_warps(T value, Combine combine) {
    constexpr int warps = THREADS / warp_threads;
    __shared__ T partial[ROWS][warps];
    T* row = partial[ROWS == 1 ? 0 : threadIdx.y];
    if (threadIdx.x % warp_threads == 0) row[threadIdx.x / warp_threads] = value;
    __syncthreads();
    value = row[0];
#pragma unroll
    for (int i = 1; i < warps; ++i) value = combine(value, row[i]);
    // The next call writes here again.
    __syncthreads();
    return value;
}

// Rows of any length: the upper half is combined into the lower one until one value is left.
template <int THREADS, int ROWS, class T, class Combine>
KILN_INLINE T combine_threads(T value, Combine combine) {
    __shared__ T partial[ROWS][THREADS];
    T* row = partial[ROWS == 1 ? 0 : threadIdx.y];
    const int thread = (int)threadIdx.x;
    row[thread] = value;
    __syncthreads();
#pragma unroll
    for (int left = THREADS; left > 1; left = (left + 1) / 2) {
        const int upper = (left + 1) / 2;
        if (thread + upper < left) row[thread] = combine(row[thread], row[thread + upper]);
        __syncthreads();
    }
    value = row[0];
    __syncthreads();
    return value;
}

// The values of a row of threads combined, for all of them. The block is THREADS x ROWS threads (x, y); each
// row combines its own values. All threads of a row get the same bits.
template <int THREADS, int ROWS = 1, class T, class Combine>
KILN_INLINE T block_reduce(T value, Combine combine) {
    static_assert(THREADS >= 1 && ROWS >= 1 && THREADS * ROWS <= 1024, "a block has 1 to 1024 threads");
    if constexpr (THREADS <= warp_threads && (THREADS & (THREADS - 1)) == 0) {
        return warp_reduce<THREADS>(value, combine);
    } else if constexpr (THREADS % warp_threads == 0) {
        return combine_warps<THREADS, ROWS>(warp_reduce(value, combine), combine);
    } else {
        return combine_threads<THREADS, ROWS>(value, combine);
    }
}
template <int THREADS, int ROWS = 1, class T> KILN_INLINE T block_sum(T value) {
    return block_reduce<THREADS, ROWS>(value, add());
}
template <int THREADS, int ROWS = 1, class T> KILN_INLINE T block_max(T value) {
    return block_reduce<THREADS, ROWS>(value, maximum());
}
template <int THREADS, int ROWS = 1, class T> KILN_INLINE T block_min(T value) {
    return block_reduce<THREADS, ROWS>(value, minimum());
}

// The value of the thread of that rank, for the whole block.
template <class T> KILN_INLINE T block_broadcast(T value, unsigned int source = 0) {
    __shared__ T sent[1];
    if (thread_rank() == source) sent[0] = value;
    __syncthreads();
    value = sent[0];
    __syncthreads();
    return value;
}

}  // namespace kiln

#endif
