// Kernels with a race each. A line `//: blocks threads shared-bytes variable` comes before a kernel; lines that the
// fault must name end with `//!`. Every kernel is launched with x and y of 4096 elements.

//: 1 64 0 s
__global__ void no_barrier_after_a_write(const int* in, int* x, float* y) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];  //!
    x[threadIdx.x] = s[63 - threadIdx.x];  //!
}

//: 1 64 0 s
__global__ void no_barrier_before_a_write(const int* in, int* x, float* y) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[(threadIdx.x + 32) % 64];  //!
    s[threadIdx.x] = 0;  //!
}

//: 1 128 0 sum
__global__ void no_barrier_after_the_first_thread(const int* in, int* x, float* y) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = in[0];  //!
    x[threadIdx.x] = sum;  //!
}

//: 1 128 0 sum
__global__ void no_barrier_after_the_last_thread(const int* in, int* x, float* y) {
    __shared__ int sum;
    if (threadIdx.x == 127) sum = in[0];  //!
    x[threadIdx.x] = sum;  //!
}

//: 1 64 0 s
__global__ void two_writers(const int* in, int* x, float* y) {
    __shared__ int s[32];
    s[threadIdx.x % 32] = in[threadIdx.x];  //!
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x % 32];
}

//: 1 64 0 s
__global__ void stage_used_too_soon(const int* in, int* x, float* y) {
    __shared__ int s[64];
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        s[threadIdx.x] = in[i * 64 + threadIdx.x];  //!
        __syncthreads();
        sum += s[63 - threadIdx.x];  //!
    }
    x[threadIdx.x] = sum;
}

//: 1 64 0 s
__global__ void wrong_one_of_two_stages(const int* in, int* x, float* y) {
    __shared__ int s[2][64];
    int sum = 0;
    s[0][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        s[i & 1][threadIdx.x] = in[i * 64 + threadIdx.x];  //!
        sum += s[i & 1][63 - threadIdx.x];  //!
        __syncthreads();
    }
    x[threadIdx.x] = sum;
}

//: 1 64 0 s
__global__ void two_stages_where_three_are_needed(const int* in, int* x, float* y) {
    __shared__ int s[2][64];
    int sum = 0;
    s[0][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        sum += s[i % 2][63 - threadIdx.x];  //!
        s[(i + 2) % 2][threadIdx.x] = in[i * 64 + threadIdx.x];  //!
        __syncthreads();
    }
    x[threadIdx.x] = sum;
}

//: 1 32 0 s
__global__ void no_syncwarp_after_a_write(const int* in, int* x, float* y) {
    __shared__ int s[32];
    s[threadIdx.x] = in[threadIdx.x];  //!
    x[threadIdx.x] = s[threadIdx.x ^ 1];  //!
}

//: 1 32 0 s
__global__ void no_syncwarp_before_a_write(const int* in, int* x, float* y) {
    __shared__ int s[32];
    s[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    int other = s[threadIdx.x ^ 16];  //!
    s[threadIdx.x] = other + 1;  //!
    __syncwarp();
    x[threadIdx.x] = s[threadIdx.x];
}

//: 1 32 0 s
__global__ void warp_reduction_without_syncwarp(const int* in, int* x, float* y) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];
    s[threadIdx.x + 32] = 0;
    __syncwarp();
    for (int step = 16; step > 0; step /= 2) s[threadIdx.x] += s[threadIdx.x + step];  //!
    x[threadIdx.x] = s[0];
}

//: 1 32 0 s
__global__ void volatile_warp_reduction(const int* in, int* x, float* y) {
    __shared__ int held[64];
    volatile int* s = held;
    s[threadIdx.x] = in[threadIdx.x];
    s[threadIdx.x + 32] = 0;
    __syncthreads();
    for (int step = 16; step > 0; step /= 2) s[threadIdx.x] += s[threadIdx.x + step];  //!
    x[threadIdx.x] = s[0];
}

//: 1 64 0 s
__global__ void syncwarp_where_a_barrier_is_needed(const int* in, int* x, float* y) {
    __shared__ int s[64];
    s[threadIdx.x] = in[threadIdx.x];  //!
    __syncwarp();
    x[threadIdx.x] = s[63 - threadIdx.x];  //!
}

//: 1 32 0 s
__global__ void syncwarp_of_the_wrong_lanes(const int* in, int* x, float* y) {
    __shared__ int s[32];
    s[threadIdx.x] = in[threadIdx.x];  //!
    __syncwarp(threadIdx.x < 16 ? 0x0000ffff : 0xffff0000);
    x[threadIdx.x] = s[(threadIdx.x + 16) % 32];  //!
}

//: 1 64 0 s
__global__ void shuffle_where_a_barrier_is_needed(const int* in, int* x, float* y) {
    __shared__ int s[2];
    int sum = in[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;  //!
    if (threadIdx.x == 0) x[0] = s[0] + s[1];  //!
}

//: 1 64 0 s
__global__ void first_warp_reads_before_the_barrier(const int* in, int* x, float* y) {
    __shared__ int s[64];
    if (threadIdx.x >= 32) s[threadIdx.x] = in[threadIdx.x];  //!
    if (threadIdx.x < 32) x[threadIdx.x] = s[threadIdx.x + 32];  //!
    __syncthreads();
}

//: 1 64 256 dynamic shared memory
__global__ void dynamic_memory(const int* in, int* x, float* y) {
    int* s = kiln::dynamic_shared<int>();
    s[threadIdx.x] = in[threadIdx.x];  //!
    x[threadIdx.x] = s[63 - threadIdx.x];  //!
}

//: 1 64 512 dynamic shared memory
__global__ void two_arrays_in_one_that_overlap(const int* in, int* x, float* y) {
    int *s = kiln::dynamic_shared<int>(), *other = s + 32;
    s[threadIdx.x] = in[threadIdx.x];  //!
    other[threadIdx.x] = in[threadIdx.x];  //!
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];
}

//: 1 64 0 s
__global__ void halves_of_a_word(const int* in, int* x, float* y) {
    __shared__ unsigned short s[64];
    s[threadIdx.x] = in[threadIdx.x];  //!
    x[threadIdx.x] = s[threadIdx.x ^ 33];  //!
}

//: 1 64 0 s
__global__ void bytes_of_a_word(const int* in, int* x, float* y) {
    __shared__ unsigned char s[64];
    s[threadIdx.x] = in[threadIdx.x];  //!
    x[threadIdx.x] = s[threadIdx.x ^ 35];  //!
}

//: 1 64 0 s
__global__ void vectors_over_words(const int* in, int* x, float* y) {
    __shared__ int4 s[64];
    s[threadIdx.x] = make_int4(in[threadIdx.x], 0, 0, 0);  //!
    x[threadIdx.x] = ((int*)s)[4 * (63 - threadIdx.x) + 3];  //!
}

//: 1 64 0 s
__global__ void in_one_step_of_a_loop(const int* in, int* x, float* y) {
    __shared__ int s[64];
    for (int i = 0; i < 100; i++) {
        s[threadIdx.x] = in[threadIdx.x] + i;  //!
        if (i != 70) __syncthreads();
        x[threadIdx.x] = s[63 - threadIdx.x];  //!
        __syncthreads();
    }
}

//: 1 64 0 x
__global__ void threads_through_global_memory(const int* in, int* x, float* y) {
    x[threadIdx.x] = in[threadIdx.x];  //!
    y[threadIdx.x] = x[63 - threadIdx.x];  //!
}

//: 1 64 0 x
__global__ void threads_that_all_add(const int* in, int* x, float* y) {
    x[0] += in[threadIdx.x];  //!
}

//: 4 64 0 x
__global__ void blocks_that_all_add(const int* in, int* x, float* y) {
    if (threadIdx.x == 0) x[0] += in[blockIdx.x];  //!
}

//: 2 64 0 x
__global__ void blocks_that_overlap(const int* in, int* x, float* y) {
    x[blockIdx.x * 63 + threadIdx.x] = in[threadIdx.x];  //!
}

//: 2 64 0 x
__global__ void block_that_reads_of_an_earlier_one(const int* in, int* x, float* y) {
    if (blockIdx.x == 0) x[threadIdx.x] = in[threadIdx.x];  //!
    if (blockIdx.x == 1) y[threadIdx.x] = x[threadIdx.x];  //!
}

//: 2 64 0 x
__global__ void block_that_writes_what_an_earlier_one_read(const int* in, int* x, float* y) {
    if (blockIdx.x == 0) y[threadIdx.x] = x[threadIdx.x];  //!
    if (blockIdx.x == 1) x[threadIdx.x] = in[threadIdx.x];  //!
}

//: 2 64 0 x
__global__ void blocks_with_barriers_inside(const int* in, int* x, float* y) {
    x[threadIdx.x] = in[threadIdx.x];  //!
    __syncthreads();
    y[blockIdx.x * 64 + threadIdx.x] = x[63 - threadIdx.x];
}

//: 4 64 0 y
__global__ void last_block_without_a_fence(const int* in, int* x, float* y) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        y[blockIdx.x] = in[blockIdx.x];  //!
        last = atomicAdd(&x[100], 1) == (int)gridDim.x - 1;
    }
    __syncthreads();
    if (last) x[threadIdx.x] = y[threadIdx.x % gridDim.x];  //!
}

//: 4 64 0 x
__global__ void atomics_beside_a_plain_read(const int* in, int* x, float* y) {
    if (threadIdx.x == 0) atomicAdd(&x[0], 1);  //!
    if (threadIdx.x == 1) y[blockIdx.x] = x[0];  //!
}

//: 1 64 0 s
__global__ void atomics_beside_a_plain_write(const int* in, int* x, float* y) {
    __shared__ int s[4];
    if (threadIdx.x < 4) s[threadIdx.x] = 0;  //!
    atomicAdd(&s[threadIdx.x % 4], 1);  //!
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x % 4];
}

//: 1 64 0 s
__global__ void atomics_without_a_barrier_behind(const int* in, int* x, float* y) {
    __shared__ int s[4];
    if (threadIdx.x < 4) s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[threadIdx.x % 4], 1);  //!
    if (threadIdx.x < 4) x[threadIdx.x] = s[threadIdx.x];  //!
}

//: 1 64 0 s
__global__ void copy_without_a_wait(const int* in, int* x, float* y) {
    __shared__ __align__(16) int s[256];
    kiln::copy_async<4>(s + 4 * threadIdx.x, in + 4 * threadIdx.x);  //!
    kiln::copy_commit();
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x];  //!
    kiln::copy_wait<0>();
}

//: 1 64 0 s
__global__ void copy_without_a_barrier(const int* in, int* x, float* y) {
    __shared__ __align__(16) int s[256];
    kiln::copy_async<4>(s + 4 * threadIdx.x, in + 4 * threadIdx.x);  //!
    kiln::copy_commit();
    kiln::copy_wait<0>();
    x[threadIdx.x] = s[threadIdx.x];  //!
}

//: 1 64 0 s
__global__ void copy_that_waits_for_too_few_groups(const int* in, int* x, float* y) {
    __shared__ int s[2][64];
    for (int i = 0; i < 2; i++) {
        kiln::copy_async<1>(&s[i][threadIdx.x], in + threadIdx.x + 64 * i);  //!
        kiln::copy_commit();
    }
    kiln::copy_wait<1>();
    __syncthreads();
    x[threadIdx.x] = s[0][63 - threadIdx.x] + s[1][63 - threadIdx.x];  //!
}

//: 1 64 0 s
__global__ void copy_into_a_stage_that_is_still_read(const int* in, int* x, float* y) {
    __shared__ int s[64];
    kiln::copy_async<1>(s + threadIdx.x, in + threadIdx.x);
    kiln::copy_commit();
    kiln::copy_wait<0>();
    __syncthreads();
    x[threadIdx.x] = s[63 - threadIdx.x];  //!
    kiln::copy_async<1>(s + threadIdx.x, in + threadIdx.x);  //!
    kiln::copy_commit();
    kiln::copy_wait<0>();
}

//: 1 64 0 updates atomically
__global__ void a_plain_read_of_what_others_compare_and_swap(const int* in, int* x, float* y) {
    if (threadIdx.x < 32) atomicCAS(&x[0], 0, in[threadIdx.x]);  //!
    else x[threadIdx.x] = x[0];  //!
}

//: 4 1 0 blocks of a launch run in any order
__global__ void a_plain_read_before_another_location_is_compared(const int* in, int* x, float* y) {
    int seen = x[0];  //!
    atomicCAS(&x[1], seen, 1);
    atomicAdd(&x[0], in[1]);  //!
}

//: 1 32 0 s
__global__ void an_index_outside_that_a_race_makes(const int* in, int* x, float* y) {
    __shared__ int s[32];
    s[threadIdx.x] = 1 << 28;
    __syncthreads();
    s[threadIdx.x ^ 31] = (int)threadIdx.x;  //!
    x[threadIdx.x] = in[s[threadIdx.x]];  //!
}
