// Kernels whose threads store in one place without an order, in the form of races.cu. First those that store the same
// value, which the author may allow.

//: 1 64 0 x
__global__ void lanes_and_warps(const int* in, int* x, float* y) {
    x[in[threadIdx.x] / 48] = 3;  //!
}

//: 4 64 0 x
__global__ void blocks(const int* in, int* x, float* y) {
    x[threadIdx.x] = in[threadIdx.x];  //!
}

//: 2 64 0 found
__global__ void a_shared_flag(const int* in, int* x, float* y) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (in[threadIdx.x] > 5) found = 1;  //!
    __syncthreads();
    x[blockIdx.x * 64 + threadIdx.x] = found;
}

//: 1 64 0 x
__global__ void vectors(const int* in, int* x, float* y) {
    ((int4*)x)[threadIdx.x / 4] = ((const int4*)in)[threadIdx.x / 4];  //!
}

//: 1 64 0 x
__global__ void whole_arrays(const int* in, int* x, float* y) {
    __builtin_memset(x, 0, 4 * blockDim.x);  //!
}

//: 1 64 0 x
__global__ void another_value_after_a_barrier(const int* in, int* x, float* y) {
    x[0] = 1;  //!
    __syncthreads();
    if (threadIdx.x == 40) x[0] = 2;
    __syncthreads();
    x[0] = 3;
}

// Kernels that store different values, or that need one of the stores to be done.

//: 1 64 0 x
__global__ void two_values(const int* in, int* x, float* y) {
    x[threadIdx.x / 2] = (int)threadIdx.x;  //!
}

//: 1 64 0 x
__global__ void one_thread_goes_on(const int* in, int* x, float* y) {
    x[0] = 4;  //!
    if (threadIdx.x == 63) x[0] = 3;  //!
}

//: 1 64 0 x
__global__ void the_last_word_of_a_vector(const int* in, int* x, float* y) {
    ((int4*)x)[0] = int4{1, 2, 3, (int)threadIdx.x};  //!
}

//: 1 64 0 x
__global__ void copied_vectors(const int* in, int* x, float* y) {
    struct four { int part[4]; };
    ((four*)x)[0] = ((const four*)in)[threadIdx.x];  //!
}

//: 1 64 0 x
__global__ void a_read_at_the_same_time(const int* in, int* x, float* y) {
    x[0] = 3;  //!
    __syncwarp();
    if (threadIdx.x == 63) x[1] = x[0];  //!
}

//: 2 64 0 x
__global__ void a_barrier_does_not_order_blocks(const int* in, int* x, float* y) {
    x[0] = 3;  //!
    __syncthreads();
    if (blockIdx.x == 1 && threadIdx.x == 5) x[0] = 4;  //!
}

//: 1 64 0 x
__global__ void an_atomic_update(const int* in, int* x, float* y) {
    x[0] = 3;  //!
    if (threadIdx.x == 63) atomicExch(x, 4);  //!
}
