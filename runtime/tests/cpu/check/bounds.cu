// Kernels that go out of bounds, one access each, in the form of races.cu; the fourth field is what the fault must say.
// in[i] is i, so that no compiler knows the index.

//: 1 64 0 reads `in`[4096]
__global__ void reads_behind_an_input(const int* in, int* x, float* y) {
    x[threadIdx.x] = in[4033 + threadIdx.x];  //!
}

//: 1 64 0 reads `in`[-1]
__global__ void reads_before_an_input(const int* in, int* x, float* y) {
    x[threadIdx.x] = in[(int)threadIdx.x - 1];  //!
}

//: 1 64 0 reads `in`[4096]
__global__ void reads_behind_an_input_in_the_last_thread(const int* in, int* x, float* y) {
    if (threadIdx.x == 63) x[0] = in[in[4095] + 1];  //!
}

//: 65 64 0 reads `in`[4096]
__global__ void reads_behind_an_input_in_one_block_too_many(const int* in, int* x, float* y) {
    int sum = in[blockIdx.x * 64 + threadIdx.x];  //!
    if (sum < 0) x[0] = sum;
}

//: 1 64 0 reads `in`[409
__global__ void reads_a_vector_over_the_end(const int* in, int* x, float* y) {
    int4 v;
    if (threadIdx.x == 5) __builtin_memcpy(&v, in + in[4093], 16);  //!
    if (threadIdx.x == 5) x[0] = v.x + v.y + v.z + v.w;
}

//: 1 64 0 reads `x`[4100]
__global__ void reads_behind_an_output(const int* in, int* x, float* y) {
    if (threadIdx.x == 0) y[0] = x[in[4095] + 5];  //!
}

//: 1 64 0 writes `x`[4096]
__global__ void writes_behind_an_output(const int* in, int* x, float* y) {
    x[4033 + threadIdx.x] = in[threadIdx.x];  //!
}

//: 1 64 0 writes `x`[-1]
__global__ void writes_before_an_output(const int* in, int* x, float* y) {
    x[(int)threadIdx.x - 1] = in[threadIdx.x];  //!
}

//: 1 64 0 writes `y`[-2]
__global__ void writes_before_an_output_in_one_thread(const int* in, int* x, float* y) {
    if (threadIdx.x == 33) y[-in[2]] = 1.0f;  //!
}

//: 4 64 0 writes `y`[4096]
__global__ void writes_behind_an_output_in_the_last_block(const int* in, int* x, float* y) {
    if (blockIdx.x == 3) y[4096 - 63 + threadIdx.x] = 1.0f;  //!
}

//: 1 64 0 updates atomically `x`[4096]
__global__ void adds_behind_an_output(const int* in, int* x, float* y) {
    if (threadIdx.x == 7) atomicAdd(&x[in[4095] + 1], 1);  //!
}

//: 1 64 0 writes `x`[409
__global__ void writes_a_vector_over_the_end(const int* in, int* x, float* y) {
    int4 v = make_int4(1, 2, 3, in[0]);
    if (threadIdx.x == 5) __builtin_memcpy(x + in[4094], &v, 16);  //!
}

//: 1 64 0 reads shared variable `s`[64]
__global__ void reads_behind_shared_memory(const int* in, int* x, float* y) {
    __shared__ int s[64], behind[64];
    s[threadIdx.x] = behind[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x + 1] + behind[0];  //!
}

//: 1 64 0 reads shared variable `s`[-1]
__global__ void reads_before_shared_memory(const int* in, int* x, float* y) {
    __shared__ int before[64], s[64];
    s[threadIdx.x] = before[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[(int)threadIdx.x - 1] + before[0];  //!
}

//: 1 64 0 writes shared variable `s`[64]
__global__ void writes_behind_shared_memory(const int* in, int* x, float* y) {
    __shared__ int s[64], behind[64];
    s[threadIdx.x + 1] = behind[threadIdx.x] = in[threadIdx.x];  //!
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x] + behind[threadIdx.x];
}

//: 1 64 0 writes shared variable `s`[-1]
__global__ void writes_before_shared_memory(const int* in, int* x, float* y) {
    __shared__ int before[64], s[64];
    s[(int)threadIdx.x - 1] = before[threadIdx.x] = in[threadIdx.x];  //!
    __syncthreads();
    x[threadIdx.x] = s[0] + before[threadIdx.x];
}

//: 1 64 0 writes shared variable `s`[100]
__global__ void writes_far_behind_shared_memory_in_one_thread(const int* in, int* x, float* y) {
    __shared__ float s[10][10];
    if (threadIdx.x == 40) s[in[9] + 1][in[0]] = 1.0f;  //!
    __syncthreads();
    if (threadIdx.x == 41) s[0][0] = 1.0f;
    __syncthreads();
    x[threadIdx.x] = (int)s[0][0];
}

//: 1 64 0 reads shared variable `s`[66]
__global__ void reads_halves_behind_shared_memory(const int* in, int* x, float* y) {
    __shared__ unsigned short s[66];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 1) x[0] = s[in[66]];  //!
}

//: 1 64 0 updates atomically shared variable `s`[16]
__global__ void adds_behind_a_shared_histogram(const int* in, int* x, float* y) {
    __shared__ unsigned s[16];
    if (threadIdx.x < 16) s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[in[threadIdx.x] / 3], 1u);  //!
}

//: 1 64 256 reads dynamic shared memory[64]
__global__ void reads_behind_dynamic_memory(const int* in, int* x, float* y) {
    int* s = kiln::dynamic_shared<int>();
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[threadIdx.x + 1];  //!
}

//: 1 64 256 reads dynamic shared memory[-1]
__global__ void reads_before_dynamic_memory(const int* in, int* x, float* y) {
    int* s = kiln::dynamic_shared<int>();
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[(int)threadIdx.x - 1];  //!
}

//: 1 64 256 writes dynamic shared memory[64]
__global__ void writes_behind_dynamic_memory(const int* in, int* x, float* y) {
    int* s = kiln::dynamic_shared<int>();
    s[threadIdx.x + 1] = in[threadIdx.x];  //!
}

//: 1 64 256 writes dynamic shared memory[-1]
__global__ void writes_before_dynamic_memory(const int* in, int* x, float* y) {
    int* s = kiln::dynamic_shared<int>();
    s[(int)threadIdx.x - 1] = in[threadIdx.x];  //!
}

//: 1 64 255 writes dynamic shared memory[63]
__global__ void writes_a_word_over_the_end_of_dynamic_memory(const int* in, int* x, float* y) {
    int* s = kiln::dynamic_shared<int>();
    s[threadIdx.x] = in[threadIdx.x];  //!
}

//: 1 64 0 writes dynamic shared memory[0]
__global__ void writes_dynamic_memory_that_the_launch_has_not(const int* in, int* x, float* y) {
    if (threadIdx.x == 3) kiln::dynamic_shared<int>()[in[0]] = 1;  //!
}

//: 1 64 256 writes dynamic shared memory[
__global__ void copies_behind_dynamic_memory(const int* in, int* x, float* y) {
    int* s = kiln::dynamic_shared<int>();
    kiln::copy_async<4>(s + threadIdx.x * 4, in + threadIdx.x * 4);  //!
    kiln::copy_commit();
    kiln::copy_wait<0>();
}

//: 1 64 0 reads 4 bytes at address 0x0000000000000000
__global__ void reads_through_a_null_pointer(const int* in, int* x, float* y) {
    const int* none = (const int*)(long long)in[0];
    x[threadIdx.x] = *none;  //!
}

//: 1 64 0 on the stack of thread (1,0,0)
__global__ void reads_the_stack_of_another_thread(const int* in, int* x, float* y) {
    __shared__ int* shared;
    int own[4] = {in[1], in[2], in[3], in[4]};
    if (threadIdx.x == 1) shared = &own[in[1]];
    __syncthreads();
    if (threadIdx.x == 0) x[0] = *shared;  //!
    __syncthreads();
    x[threadIdx.x + 1] = own[threadIdx.x % 4];
}

//: 1 64 0 writes `in`[5]
__global__ void writes_an_input(const int* in, int* x, float* y) {
    if (threadIdx.x == 5) *(int*)&in[threadIdx.x] = 1;  //!
}
