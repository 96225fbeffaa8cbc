// Kernels that read an output, `x` or `y`, that no thread has written. The form is that of races.cu.

//: 2 64 0 `y`[0]
__global__ void adds(const int* in, int* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    y[i] += (float)in[i];  //!
}

//: 2 64 0 `y`[0]
__global__ void beta_is_zero(const int* in, int* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    const float beta = (float)(in[i] - in[i]);
    y[i] = 2.0f * (float)in[i] + beta * y[i];  //!
}

//: 2 64 0 `x`[0]
__global__ void counts(const int* in, int* x, float* y) {
    atomicAdd(&x[in[threadIdx.x] % 16], 1);  //!
}

//: 2 64 0 `x`[5]
__global__ void largest(const int* in, int* x, float* y) {
    atomicMax(&x[5], in[threadIdx.x]);  //!
}

//: 1 64 0 `y`[0]
__global__ void is_lazy(const int* in, int* x, float* y) {
    if (y[threadIdx.x] == y[threadIdx.x]) {  //!
        x[threadIdx.x] = 1;
        return;
    }
    y[threadIdx.x] = (float)in[threadIdx.x];
}

//: 1 64 0 `y`[0]
__global__ void keeps_negative_ones(const int* in, int* x, float* y) {
    const float old = y[threadIdx.x];  //!
    y[threadIdx.x] = old < 0.0f ? old : (float)in[threadIdx.x];
}

//: 1 32 0 `y`[0]
__global__ void as_vectors(const int* in, int* x, float* y) {
    float4 four = reinterpret_cast<float4*>(y)[threadIdx.x];  //!
    four.x += 1.0f;
    reinterpret_cast<float4*>(y)[threadIdx.x] = four;
}

//: 1 32 0 `x`
__global__ void as_bytes(const int* in, int* x, float* y) {
    unsigned char* bytes = reinterpret_cast<unsigned char*>(x);
    bytes[4 * threadIdx.x] = 1;
    bytes[4 * threadIdx.x + 1] |= 2;  //!
}

//: 1 64 0 `y`[64]
__global__ void one_too_far(const int* in, int* x, float* y) {
    y[threadIdx.x] = (float)in[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = (int)y[threadIdx.x + 1];  //!
}

//: 1 64 0 `x`[0]
__global__ void exchanges(const int* in, int* x, float* y) {
    if (threadIdx.x == 0) atomicCAS(&x[0], -1, in[3]);  //!
}

// Right kernels.

//: 2 64 0
__global__ void accumulates_in_place(const int* in, int* x, float* y) {
    const unsigned i = blockIdx.x * 64 + threadIdx.x;
    y[i] = 0.0f;
    for (int k = 0; k < 4; ++k) y[i] += (float)in[k];
}

//: 2 64 0
__global__ void exchanges_through_the_output(const int* in, int* x, float* y) {
    const unsigned first = blockIdx.x * 64;
    y[first + threadIdx.x] = (float)in[threadIdx.x];
    __syncthreads();
    x[first + threadIdx.x] = (int)y[first + 63 - threadIdx.x];
}

//: 1 64 0
__global__ void counts_from_zero(const int* in, int* x, float* y) {
    if (threadIdx.x < 16) x[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&x[in[threadIdx.x] % 16], 1);
}

//: 1 32 0
__global__ void writes_and_reads_vectors(const int* in, int* x, float* y) {
    float4* four = reinterpret_cast<float4*>(y);
    four[threadIdx.x] = make_float4(1.0f, 2.0f, 3.0f, (float)in[0]);
    y[4 * threadIdx.x] += 1.0f;
    const float2 two = reinterpret_cast<float2*>(y)[2 * threadIdx.x + 1];
    x[threadIdx.x] = (int)(two.x + two.y);
}

//: 2 32 0
__global__ void copies_padding(const int* in, int* x, float* y) {
    struct padded { char small; int large; };
    padded* pairs = reinterpret_cast<padded*>(x) + blockIdx.x * 32;
    pairs[threadIdx.x].small = 1;
    pairs[threadIdx.x].large = in[threadIdx.x];
    reinterpret_cast<padded*>(y)[blockIdx.x * 32 + threadIdx.x] = pairs[threadIdx.x];
}
