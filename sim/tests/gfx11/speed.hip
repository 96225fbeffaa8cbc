// A product of matrices through shared memory, as a library kernel would compute it.
#define GLOBAL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))
typedef unsigned u32;
#define TX (__builtin_amdgcn_workitem_id_x())
#define BX (__builtin_amdgcn_workgroup_id_x())
#define BARRIER() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
// c (64 x 64 per block) = a (64 x k) times b (k x 64); 256 threads, 4 x 4 each.
GLOBAL __attribute__((amdgpu_flat_work_group_size(256, 256)))
void gemm(const float *a, const float *b, float *c, u32 k) {
    SHARED float as[16][64], bs[16][64];
    float sum[4][4] = {};
    u32 row = TX / 16 * 4, column = TX % 16 * 4;
    for (u32 first = 0; first < k; first += 16) {
        for (u32 i = TX; i < 1024; i += 256) {
            as[i / 64][i % 64] = a[(i % 64) * k + first + i / 64];
            bs[i / 64][i % 64] = b[(first + i / 64) * 64 + i % 64];
        }
        BARRIER();
        for (u32 j = 0; j < 16; j++)
            for (u32 y = 0; y < 4; y++)
                for (u32 x = 0; x < 4; x++) sum[y][x] += as[j][row + y] * bs[j][column + x];
        BARRIER();
    }
    for (u32 y = 0; y < 4; y++)
        for (u32 x = 0; x < 4; x++) c[BX * 4096 + (row + y) * 64 + column + x] = sum[y][x];
}
typedef _Float16 half16 __attribute__((ext_vector_type(16)));
typedef _Float16 half8 __attribute__((ext_vector_type(8)));
typedef float float8 __attribute__((ext_vector_type(8)));
typedef float float4 __attribute__((ext_vector_type(4)));
// The same with f16 in a and b on matrix units; b has columns of k elements; 128 threads, 32 x 32 each wave.
GLOBAL __attribute__((amdgpu_flat_work_group_size(128, 128)))
void wmma(const _Float16 *a, const _Float16 *b, float *c, u32 k) {
    SHARED _Float16 as[64][40], bs[64][40];
    float8 sum[2][2] = {};
    u32 lane = TX % 32, row = TX / 64 * 32, column = TX / 32 % 2 * 32;
    for (u32 first = 0; first < k; first += 32) {
        for (u32 i = TX; i < 256; i += 128) {
            *(half8 *)&as[i / 4][i % 4 * 8] = *(const half8 *)(a + i / 4 * k + first + i % 4 * 8);
            *(half8 *)&bs[i / 4][i % 4 * 8] = *(const half8 *)(b + i / 4 * k + first + i % 4 * 8);
        }
        BARRIER();
        for (u32 j = 0; j < 32; j += 16) {
            half16 left[2], right[2];
            for (u32 i = 0; i < 2; i++) {
                __builtin_memcpy(&left[i], &as[row + i * 16 + lane % 16][j], 32);
                __builtin_memcpy(&right[i], &bs[column + i * 16 + lane % 16][j], 32);
            }
            for (u32 y = 0; y < 2; y++)
                for (u32 x = 0; x < 2; x++)
                    sum[y][x] = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(left[y], right[x], sum[y][x]);
        }
        BARRIER();
    }
    for (u32 y = 0; y < 2; y++)
        for (u32 x = 0; x < 2; x++)
            for (u32 i = 0; i < 8; i++)
                c[BX * 4096 + (row + y * 16 + 2 * i + lane / 16) * 64 + column + x * 16 + lane % 16] = sum[y][x][i];
}
static __attribute__((device)) float other(float x, u32 step) {
    u32 lane = TX % 32;
    return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute((lane ^ step) * 4, __builtin_bit_cast(int, x)));
}
// c = softmax(a) along rows of `columns` elements: a wave a row, 8 rows a block.
GLOBAL __attribute__((amdgpu_flat_work_group_size(256, 256)))
void softmax(const float *a, const float *, float *c, u32 columns) {
    u32 lane = TX % 32, row = BX * 8 + TX / 32;
    const float *from = a + row * columns;
    float most = -3.4e38f, sum = 0;
    for (u32 i = lane * 4; i < columns; i += 128) {
        float4 v = *(const float4 *)(from + i);
        for (u32 j = 0; j < 4; j++) most = __builtin_fmaxf(most, v[j]);
    }
    for (u32 step = 16; step > 0; step /= 2) most = __builtin_fmaxf(most, other(most, step));
    for (u32 i = lane * 4; i < columns; i += 128) {
        float4 v = *(const float4 *)(from + i);
        for (u32 j = 0; j < 4; j++) sum += __builtin_amdgcn_exp2f((v[j] - most) * 1.44269504f);
    }
    for (u32 step = 16; step > 0; step /= 2) sum += other(sum, step);
    float scale = 1 / sum;
    for (u32 i = lane; i < columns; i += 32)
        c[row * columns + i] = __builtin_amdgcn_exp2f((from[i] - most) * 1.44269504f) * scale;
}
// Integer and float arithmetic in a loop.
GLOBAL void spin(const float *, const float *, u32 *out, u32 n) {
    u32 x = TX, y = BX; float f = TX;
    for (u32 i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u; y ^= x >> 7; f = f * 0.99f + (float)(y & 255);
        if (x & 64) y += i;
    }
    out[BX * 64 + TX] = x + y + (u32)f;
}
