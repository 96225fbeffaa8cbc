// Kernels without a race, in the form of races.cu: they must run without a fault, in every order.

//: 4 64 0
__global__ void double_barriers(const int* in, int* x, float* y) {
    __shared__ int s[64];
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        s[threadIdx.x] = in[i * 64 + threadIdx.x];
        __syncthreads();
        sum += s[63 - threadIdx.x];
        __syncthreads();
    }
    x[blockIdx.x * 64 + threadIdx.x] = sum;
}

//: 2 64 0
__global__ void two_stages(const int* in, int* x, float* y) {
    __shared__ int s[2][64];
    int sum = 0;
    s[0][threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        s[(i + 1) % 2][threadIdx.x] = in[i * 64 + threadIdx.x];
        sum += s[i % 2][63 - threadIdx.x];
        __syncthreads();
    }
    x[blockIdx.x * 64 + threadIdx.x] = sum;
}

//: 4 128 0
__global__ void warps_reduce_by_syncwarp(const int* in, int* x, float* y) {
    __shared__ int s[4][64];
    int lane = threadIdx.x % 32, *mine = s[threadIdx.x / 32];
    mine[lane] = in[threadIdx.x];
    mine[lane + 32] = 0;
    __syncwarp();
    for (int step = 16; step > 0; step /= 2) {
        int other = mine[lane + step];
        __syncwarp();
        mine[lane] += other;
        __syncwarp();
    }
    x[blockIdx.x * 128 + threadIdx.x] = mine[0];
}

//: 1 64 0
__global__ void halves_of_a_warp(const int* in, int* x, float* y) {
    __shared__ int s[64];
    unsigned mask = threadIdx.x % 32 < 16 ? 0x0000ffff : 0xffff0000;
    s[threadIdx.x] = in[threadIdx.x];
    __syncwarp(mask);
    x[threadIdx.x] = s[threadIdx.x ^ 15];
    __syncwarp();
    s[threadIdx.x ^ 16] = 3;
}

//: 1 64 0
__global__ void lanes_that_meet_through_a_third(const int* in, int* x, float* y) {
    __shared__ int s[64];
    unsigned lane = threadIdx.x % 32;
    s[threadIdx.x] = in[threadIdx.x];
    if (lane < 2) __syncwarp(3);
    if (lane >= 1 && lane < 3) __syncwarp(6);
    if (lane == 2) x[threadIdx.x] = s[threadIdx.x - 2];
}

//: 4 64 0
__global__ void shuffles_and_votes(const int* in, int* x, float* y) {
    __shared__ int s[2];
    int sum = in[threadIdx.x];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (__any_sync(~0u, sum > 3) && threadIdx.x % 32 == 0) s[threadIdx.x / 32] = sum;
    if (!__any_sync(~0u, sum > 3) && threadIdx.x % 32 == 0) s[threadIdx.x / 32] = 0;
    __syncthreads();
    if (threadIdx.x == 0) x[blockIdx.x] = s[0] + s[1];
}

//: 8 64 0
__global__ void histogram(const int* in, int* x, float* y) {
    __shared__ int s[16];
    if (threadIdx.x < 16) s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[in[threadIdx.x] % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&x[threadIdx.x], s[threadIdx.x]);
}

//: 8 64 0
__global__ void last_block_sums(const int* in, int* x, float* y) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        y[blockIdx.x] = in[blockIdx.x];
        __threadfence();
        last = atomicInc((unsigned*)&x[100], gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x) x[threadIdx.x] = (int)y[threadIdx.x];
}

//: 8 64 0
__global__ void last_block_sums_what_all_wrote(const int* in, int* x, float* y) {
    __shared__ bool last;
    y[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&x[100], 1) == (int)gridDim.x - 1;
    __syncthreads();
    for (int block = 0; last && block < (int)gridDim.x; block++) x[threadIdx.x] += (int)y[block * 64 + threadIdx.x];
}

//: 8 64 0
__global__ void blocks_take_a_lock(const int* in, int* x, float* y) {
    if (threadIdx.x == 0) {
        while (atomicCAS(&x[100], 0, 1) != 0) {}
        __threadfence();
        x[0] += in[blockIdx.x];
        __threadfence();
        atomicExch(&x[100], 0);
    }
}

//: 2 64 0
__global__ void threads_take_a_lock(const int* in, int* x, float* y) {
    while (atomicCAS(&x[100], 0, 1) != 0) {}
    __threadfence();
    x[0] += in[threadIdx.x];
    __threadfence();
    atomicExch(&x[100], 0);
}

//: 8 64 0
__global__ void a_flag_between_blocks(const int* in, int* x, float* y) {
    if (threadIdx.x != 0) return;
    volatile int* flag = &x[100];
    if (*flag == 0) {
        y[0] = 1.0f;
        __threadfence();
        *flag = 1;
    } else {
        __threadfence();
        x[blockIdx.x] = (int)y[0];
    }
}

//: 4 64 0
__global__ void blocks_take_tickets(const int* in, int* x, float* y) {
    __shared__ int ticket;
    if (threadIdx.x == 0) ticket = atomicAdd(&x[4000], 1);
    __syncthreads();
    x[ticket * 64 + threadIdx.x] = in[threadIdx.x];
}

//: 4 64 0
__global__ void atomics_of_every_kind(const int* in, int* x, float* y) {
    __shared__ int s[8];
    if (threadIdx.x < 8) s[threadIdx.x] = 0;
    __syncthreads();
    atomicMax(&s[0], in[threadIdx.x]);
    atomicMin(&s[1], in[threadIdx.x]);
    atomicXor(&s[2], in[threadIdx.x]);
    atomicCAS(&s[3], 0, in[threadIdx.x]);
    kiln::atomic_max((float*)&s[4], 1.5f);
    kiln::atomic_add((__half*)&s[5], __float2half(1.0f));
    kiln::atomic_max((__half*)&s[6], __float2half((float)threadIdx.x));
    __syncthreads();
    if (threadIdx.x < 8) atomicAdd(&x[threadIdx.x], s[threadIdx.x]);
    atomicAdd(&y[0], 1.0f);
}

//: 2 64 1024
__global__ void copies_in_stages(const int* in, int* x, float* y) {
    int* s = kiln::dynamic_shared<int>();
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        kiln::copy_async<1>(s + i * 64 + threadIdx.x, in + i * 64 + threadIdx.x);
        kiln::copy_commit();
    }
    for (int i = 0; i < 6; i++) {
        kiln::copy_wait<1>();
        __syncthreads();
        sum += s[i % 3 * 64 + 63 - threadIdx.x];
        if (i < 4) kiln::copy_async<1>(s + (i + 2) % 3 * 64 + threadIdx.x, in + (i + 2) * 64 + threadIdx.x);
        kiln::copy_commit();
    }
    x[blockIdx.x * 64 + threadIdx.x] = sum;
}

//: 2 64 0
__global__ void words_of_other_sizes(const int* in, int* x, float* y) {
    __shared__ __align__(16) unsigned char s[1024];
    *(int4*)(s + 16 * threadIdx.x) = make_int4(1, 2, 3, 4);
    __syncthreads();
    int sum = ((unsigned short*)s)[threadIdx.x] + s[threadIdx.x] + (int)((long long*)s)[63 - threadIdx.x];
    __syncthreads();
    s[threadIdx.x] = 1;
    s[64 + threadIdx.x] = 2;
    __syncthreads();
    x[blockIdx.x * 64 + threadIdx.x] = sum + ((int*)s)[threadIdx.x % 32];
}

//: 4 48 0
__global__ void a_ragged_warp(const int* in, int* x, float* y) {
    __shared__ int s[48];
    s[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    int other = s[threadIdx.x ^ 1];
    __syncthreads();
    s[47 - threadIdx.x] = other;
    __syncthreads();
    x[blockIdx.x * 48 + threadIdx.x] = s[threadIdx.x];
}

//: 1 32 0
__global__ void many_warp_operations(const int* in, int* x, float* y) {
    __shared__ int s[32];
    for (int i = 0; i < 70000; i++) {
        s[(threadIdx.x + i) % 32] = i;
        __syncwarp();
    }
    x[threadIdx.x] = s[threadIdx.x];
}

//: 4 64 0
__global__ void a_loop_of_comparisons_begins_with_a_plain_read(const int* in, int* x, float* y) {
    // The CUDA C++ Programming Guide ("Atomic Functions") adds doubles in this way.
    unsigned long long* sum = (unsigned long long*)y;
    unsigned long long old = *sum, assumed;
    do {
        assumed = old;
        old = atomicCAS(sum, assumed, (unsigned long long)__double_as_longlong(1.0 + __longlong_as_double((long long)assumed)));
    } while (assumed != old);
    unsigned* word = (unsigned*)&x[0];
    unsigned seen = *word, before;
    do {
        before = seen;
        seen = atomicCAS(word, before, before + in[threadIdx.x]);
    } while (before != seen);
    __shared__ unsigned most;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    unsigned now = most, last;
    do {
        last = now;
        now = atomicCAS(&most, last, last > threadIdx.x ? last : threadIdx.x);
    } while (now != last);
    __syncthreads();
    x[64 + blockIdx.x * 64 + threadIdx.x] = (int)most;
}

__device__ int last_turn = 7, scratch[64], table[64] = {0, 1, 2, 3};
//: 4 64 0
__global__ void variables_that_each_launch_leaves_as_they_were_or_writes_first(const int* in, int* x, float* y) {
    __shared__ bool is_last;
    if (blockIdx.x == 0) scratch[threadIdx.x] = in[threadIdx.x];
    if (blockIdx.x == 0) x[threadIdx.x] = scratch[threadIdx.x] + table[threadIdx.x];
    __threadfence();
    if (threadIdx.x == 0) is_last = atomicAdd(&last_turn, 1) == 10;
    __syncthreads();
    if (is_last && threadIdx.x == 0) last_turn = 7;
}
