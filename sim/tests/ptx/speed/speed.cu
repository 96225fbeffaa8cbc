// What library kernels do most: products of matrices through shared memory, rows of a matrix, and arithmetic in a loop.
// Every kernel has the arguments a, b, c and a count.
typedef unsigned u32;
typedef unsigned short u16;

// c (64 x 64 per block) = a (64 x k) times b (k x 64); 256 threads, 4 x 4 each.
extern "C" __global__ void __launch_bounds__(256) gemm(const float *a, const float *b, float *c, u32 k) {
    __shared__ __align__(16) float as[16][64], bs[16][64];
    float sum[4][4] = {};
    u32 row = threadIdx.x / 16 * 4, column = threadIdx.x % 16 * 4;
    for (u32 first = 0; first < k; first += 16) {
        for (u32 i = threadIdx.x; i < 1024; i += 256) {
            as[i / 64][i % 64] = a[(i % 64) * k + first + i / 64];
            bs[i / 64][i % 64] = b[(first + i / 64) * 64 + i % 64];
        }
        __syncthreads();
#pragma unroll
        for (u32 j = 0; j < 16; j++) {
            float4 left = *(float4 *)&as[j][row], right = *(float4 *)&bs[j][column];
            float l[4] = {left.x, left.y, left.z, left.w}, r[4] = {right.x, right.y, right.z, right.w};
            for (u32 y = 0; y < 4; y++)
                for (u32 x = 0; x < 4; x++) sum[y][x] += l[y] * r[x];
        }
        __syncthreads();
    }
    for (u32 y = 0; y < 4; y++)
        for (u32 x = 0; x < 4; x++) c[blockIdx.x * 4096 + (row + y) * 64 + column + x] = sum[y][x];
}

static __device__ void copy16(void *to, const void *from) {
    u32 at = (u32)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}

// The same with f16 in a and b on tensor cores: two pairs of tiles in shared memory; 128 threads, 32 x 32 each warp.
extern "C" __global__ void __launch_bounds__(128) mma(const u16 *a, const u16 *b, float *c, u32 k) {
    __shared__ __align__(16) u16 as[2][64][40], bs[2][32][72];
    float sum[2][4][4] = {};
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp / 2 * 32, column = warp % 2 * 32;
    auto fetch = [&](u32 step) {
        for (u32 i = threadIdx.x; i < 256; i += 128) {
            copy16(&as[step % 2][i / 4][i % 4 * 8], a + i / 4 * k + step * 32 + i % 4 * 8);
            copy16(&bs[step % 2][i / 8][i % 8 * 8], b + (step * 32 + i / 8) * 64 + i % 8 * 8);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };
    fetch(0);
    for (u32 step = 0; step < k / 32; step++) {
        asm volatile("cp.async.wait_group 0;" ::: "memory");
        __syncthreads();
        if (step + 1 < k / 32) fetch(step + 1);
#pragma unroll
        for (u32 j = 0; j < 32; j += 16) {
            u32 left[2][4], right[2][4];
            for (u32 y = 0; y < 2; y++) {
                u32 at = (u32)__cvta_generic_to_shared(&as[step % 2][row + y * 16 + lane % 16][j + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(left[y][0]), "=r"(left[y][1]), "=r"(left[y][2]), "=r"(left[y][3]) : "r"(at));
            }
            for (u32 x = 0; x < 2; x++) {
                u32 at = (u32)__cvta_generic_to_shared(&bs[step % 2][j + lane % 16][column + x * 16 + lane / 16 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                             : "=r"(right[x][0]), "=r"(right[x][1]), "=r"(right[x][2]), "=r"(right[x][3]) : "r"(at));
            }
            for (u32 y = 0; y < 2; y++)
                for (u32 x = 0; x < 4; x++) {
                    float *s = sum[y][x];
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                                 "{%8, %9}, {%0, %1, %2, %3};"
                                 : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
                                 : "r"(left[y][0]), "r"(left[y][1]), "r"(left[y][2]), "r"(left[y][3]),
                                   "r"(right[x / 2][x % 2 * 2]), "r"(right[x / 2][x % 2 * 2 + 1]));
                }
        }
        __syncthreads();
    }
    for (u32 y = 0; y < 2; y++)
        for (u32 x = 0; x < 4; x++)
            for (u32 i = 0; i < 4; i++)
                c[blockIdx.x * 4096 + (row + y * 16 + lane / 4 + i / 2 * 8) * 64 + column + x * 8 + lane % 4 * 2 + i % 2] =
                    sum[y][x][i];
}

// c = softmax(a) along rows of `columns` elements: a warp a row, 8 rows a block.
extern "C" __global__ void __launch_bounds__(256) softmax(const float *a, const float *, float *c, u32 columns) {
    u32 lane = threadIdx.x % 32, row = blockIdx.x * 8 + threadIdx.x / 32;
    const float *from = a + row * columns;
    float most = -3.4e38f, sum = 0;
    for (u32 i = lane * 4; i < columns; i += 128) {
        float4 v = *(const float4 *)(from + i);
        most = fmaxf(fmaxf(most, fmaxf(v.x, v.y)), fmaxf(v.z, v.w));
    }
    for (u32 step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, step));
    for (u32 i = lane * 4; i < columns; i += 128) {
        float4 v = *(const float4 *)(from + i);
        sum += exp2f((v.x - most) * 1.44269504f) + exp2f((v.y - most) * 1.44269504f) +
               exp2f((v.z - most) * 1.44269504f) + exp2f((v.w - most) * 1.44269504f);
    }
    for (u32 step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    float scale = 1 / sum;
    for (u32 i = lane; i < columns; i += 32) c[row * columns + i] = exp2f((from[i] - most) * 1.44269504f) * scale;
}

// Integer and float arithmetic in a loop.
extern "C" __global__ void spin(const float *, const float *, u32 *c, u32 n) {
    u32 x = threadIdx.x, y = blockIdx.x;
    float f = threadIdx.x;
    for (u32 i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        y ^= x >> 7;
        f = f * 0.99f + (float)(y & 255);
        if (x & 64) y += i;
    }
    c[blockIdx.x * 64 + threadIdx.x] = x + y + (u32)f;
}
