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
// Integer and float arithmetic in a loop.
GLOBAL void spin(u32 *out, u32 n) {
    u32 x = TX, y = BX; float f = TX;
    for (u32 i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u; y ^= x >> 7; f = f * 0.99f + (float)(y & 255);
        if (x & 64) y += i;
    }
    out[BX * 64 + TX] = x + y + (u32)f;
}
