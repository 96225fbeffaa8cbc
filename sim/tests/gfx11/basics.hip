// Small kernels: each needs one part of the interpreter.
#define GLOBAL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))
typedef unsigned u32;
typedef unsigned long long u64;
typedef float f4 __attribute__((ext_vector_type(4)));
#define TX (__builtin_amdgcn_workitem_id_x())
#define TY (__builtin_amdgcn_workitem_id_y())
#define BX (__builtin_amdgcn_workgroup_id_x())
#define BARRIER() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)

GLOBAL void add(const float *a, const float *b, float *c, u32 n) {
    u32 i = BX * 128 + TX;
    if (i < n) c[i] = a[i] + b[i];
}

// The sum of a block through shared memory; `skip` leaves a barrier out.
GLOBAL void sum(const float *a, float *out, u32 skip) {
    SHARED float part[128];
    part[TX] = a[BX * 128 + TX];
    if (skip != 1) BARRIER();
    for (u32 step = 64; step > 0; step /= 2) {
        if (TX < step) part[TX] += part[TX + step];
        if (skip != 2) BARRIER();
    }
    if (TX == 0) out[BX] = part[0];
}

GLOBAL void divide(const float *a, const float *b, float *c) { c[TX] = a[TX] / b[TX]; }
GLOBAL void divide_double(const double *a, const double *b, double *c) { c[TX] = a[TX] / b[TX]; }
GLOBAL void root(const float *a, float *c) { c[TX] = __builtin_sqrtf(a[TX]); }
GLOBAL void fused(const double *a, const double *b, double *c) { c[TX] = __builtin_fma(a[TX], b[TX], c[TX]); }

GLOBAL void integers(const u64 *a, const u64 *b, u64 *c) {
    u64 x = a[TX], y = b[TX];
    c[TX * 4] = x * y;
    c[TX * 4 + 1] = x / (y | 1);
    c[TX * 4 + 2] = (u64)((long long)x >> (y & 63)) ^ (x << (y & 63));
    c[TX * 4 + 3] = (u64)__builtin_popcountll(x) + ((u64)__builtin_clzll(x | 1) << 32);
}

GLOBAL void halves(const _Float16 *a, const _Float16 *b, _Float16 *c, float *d) {
    _Float16 x = a[TX], y = b[TX];
    c[TX] = x * y + (_Float16)1;
    d[TX] = (float)x * (float)y + d[TX];
}

// Private memory: an array that registers cannot hold.
GLOBAL void local(const u32 *index, u32 *out) {
    u32 table[40];
    for (u32 i = 0; i < 40; i++) table[i] = i * i + TX;
    for (u32 i = 0; i < 8; i++) table[index[i] % 40] += i;
    out[TX] = table[index[TX] % 40];
}

GLOBAL void count(u32 *bins, const u32 *value, u64 *wide) {
    SHARED u32 own[32];
    if (TX < 32) own[TX] = 0;
    BARRIER();
    __atomic_fetch_add(&own[value[BX * 64 + TX] % 32], 1, __ATOMIC_RELAXED);
    BARRIER();
    if (TX < 32) __atomic_fetch_add(&bins[TX], own[TX], __ATOMIC_RELAXED);
    __atomic_fetch_add(wide, (u64)value[BX * 64 + TX], __ATOMIC_RELAXED);
}

// One access; the host gives the offset.
GLOBAL void touch(float *a, u32 offset) { a[offset + TX] = 1.0f; }
GLOBAL void unwritten(float *out, u32 which) {
    SHARED float part[64];
    if (TX < 32) part[TX] = 2.0f;
    BARRIER();
    out[TX] = part[(TX + which) % 64];
}
GLOBAL void dynamic(float *out, u32 last) {
    extern SHARED float memory[];
    memory[TX] = 3.0f;
    if (TX == 0) memory[last] = 4.0f;
    BARRIER();
    out[TX] = memory[TX];
}
GLOBAL void uneven(float *out) {
    if (TX < 32) __builtin_amdgcn_s_barrier();
    out[TX] = 1.0f;
}
GLOBAL void trap(u32 *out, u32 when) {
    if (when == 3) __builtin_trap();
    out[TX] = when;
}
GLOBAL void forever(u32 *out) {
    while (__atomic_load_n(out, __ATOMIC_RELAXED) == 0) {}
}

// Sectors: consecutive, strided, one.
GLOBAL void strided(const float *a, float *out, u32 stride) { out[TX] = a[TX * stride]; }
GLOBAL void banks(float *out, u32 stride) {
    SHARED float part[1024];
    for (u32 i = TX; i < 1024; i += 32) part[i] = 1.0f;
    BARRIER();
    out[TX] = part[TX * stride];
}

typedef _Float16 h16 __attribute__((ext_vector_type(16)));
typedef float f8 __attribute__((ext_vector_type(8)));
// out = a (16 x 16, rows) times b (16 x 16, columns); `shift` breaks the repetition of lanes.
GLOBAL void product(const _Float16 *a, const _Float16 *b, float *out, u32 shift) {
    u32 line = (TX + (TX >= 16 ? shift : 0)) % 16;
    h16 x, y;
    for (int k = 0; k < 16; k++) x[k] = a[line * 16 + k], y[k] = b[line * 16 + k];
    f8 c = {};
    c = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(x, y, c);
    for (int r = 0; r < 8; r++) out[(2 * r + TX / 16) * 16 + TX % 16] = c[r];
}

GLOBAL void shuffle(const u32 *a, const u32 *from, u32 *out) {
    u32 v = a[TX];
    out[TX] = __builtin_amdgcn_ds_bpermute(from[TX] * 4, v);
    out[32 + TX] = __builtin_amdgcn_update_dpp(7, v, 0x111, 0xf, 0xf, false);
    out[64 + TX] = __builtin_amdgcn_update_dpp(7, v, 0x140, 0xf, 0xf, true);
    out[96 + TX] = __builtin_amdgcn_mbcnt_lo(__builtin_amdgcn_ballot_w32(v & 1), 0);
    out[128 + TX] = __builtin_amdgcn_permlanex16(v, v, 0x76543210, 0xfedcba98, false, false);
    out[160 + TX] = __builtin_amdgcn_readlane(v, 5);
    out[192 + TX] = __builtin_amdgcn_ds_swizzle(v, 0x041f);
}

__attribute__((device, noinline)) float *choose(float *shared, float *global, u32 which) {
    asm volatile("");
    return which ? shared : global;
}
// A generic pointer: flat instructions and apertures, and a call.
GLOBAL void generic(float *out, u32 which) {
    SHARED float part[32];
    part[TX] = 5.0f;
    float *p = choose(part, out + 32, which);
    p[TX] += 1.0f;
    out[TX] = p[TX];
}

__attribute__((device)) const u32 constants[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__attribute__((device)) u32 written[32];
GLOBAL void globals(const u32 *index, u32 *out) {
    out[TX] = constants[index[TX] & 7];
    written[TX] = TX;
}
GLOBAL void constant_write(u32 value) { ((volatile u32 *)constants)[TX & 7] = value; }
GLOBAL void grid(u32 *out, u32 width) {
    u32 *implicit = (u32 *)__builtin_amdgcn_implicitarg_ptr();
    u32 i = (__builtin_amdgcn_workgroup_id_y() * 2 + BX) * width + TY * 8 + TX;
    out[i] = implicit[0] * 100 + implicit[1] * 10 + __builtin_amdgcn_workgroup_id_z();
}
