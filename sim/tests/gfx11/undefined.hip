// Loads of shared memory that nothing has written. `how` selects what happens to the loaded value.
#define GLOBAL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))
typedef unsigned u32;
typedef float f8 __attribute__((ext_vector_type(8)));
typedef _Float16 h16 __attribute__((ext_vector_type(16)));
#define TX (__builtin_amdgcn_workitem_id_x())
#define BARRIER() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)

// The compiler can neither move nor remove these instructions.
__attribute__((device)) static inline u32 load(u32 at) {
    u32 value;
    asm volatile("ds_load_b32 %0, %1\n s_waitcnt lgkmcnt(0)" : "=v"(value) : "v"(at));
    return value;
}

GLOBAL void use(u32 *out, u32 how) {
    SHARED u32 words[128];
    u32 base = (u32)(unsigned long long)words;
    // The first 16 words are the indices of their threads, and the other words hold no value.
    if (TX < 16) words[TX] = TX;
    BARRIER();
    u32 x = load(base + 4 * TX), y = 7;
    switch (how) {
    case 0: break;
    case 1: y = x; break;
    case 2: y = x * 3 + TX; break;
    case 3: asm volatile("v_cmp_gt_u32 vcc_lo, 16, %1\n v_cndmask_b32 %0, 99, %2, vcc_lo" : "=v"(y) : "v"(TX), "v"(x) : "vcc"); break;
    case 4: asm volatile("v_cmp_gt_u32 vcc_lo, 16, %1\n s_and_saveexec_b32 s4, vcc_lo\n v_mov_b32 %0, %2\n s_mov_b32 exec_lo, s4" : "+v"(y) : "v"(TX), "v"(x) : "vcc", "s4"); break;
    case 5: asm volatile("v_cmp_lt_u32 vcc_lo, 20, %1\n s_cbranch_vccz 1f\n v_mov_b32 %0, 1\n1:" : "+v"(y) : "v"(x) : "vcc"); break;
    case 6: asm volatile("v_cmpx_gt_u32 5, %1\n v_mov_b32 %0, 1\n s_mov_b32 exec_lo, -1" : "+v"(y) : "v"(x)); break;
    case 7: y = load(base + (x & 60)); break;
    case 8: asm volatile("v_readlane_b32 s4, %1, 3\n v_mov_b32 %0, s4" : "=v"(y) : "v"(x) : "s4"); break;
    case 9: asm volatile("v_readlane_b32 s4, %1, 20\n v_mov_b32 %0, s4" : "=v"(y) : "v"(x) : "s4"); break;
    // The high half of the register is loaded from a word that holds a value.
    case 10: asm volatile("ds_load_u16_d16_hi %0, %1\n s_waitcnt lgkmcnt(0)\n v_lshrrev_b32 %0, 16, %0" : "+v"(x) : "v"(base + 4 * (TX & 15))); y = x; break;
    case 11: asm volatile("ds_load_u16_d16_hi %0, %1\n s_waitcnt lgkmcnt(0)\n v_and_b32 %0, 0xffff, %0" : "+v"(x) : "v"(base + 4 * (TX & 15))); y = x; break;
    case 12: y = __builtin_amdgcn_ds_bpermute(4 * (TX & 15), x); break;
    case 13: y = __builtin_amdgcn_ds_bpermute(4 * (TX | 16), x); break;
    case 14: y = __builtin_amdgcn_update_dpp(0, x, 0x141, 0xf, 0xf, true); break;
    // The mask of the comparison has undefined bits, and `s_and` removes them.
    case 15: asm volatile("v_cmp_gt_u32 vcc_lo, 5, %1\n s_and_b32 vcc_lo, vcc_lo, 0xff\n s_bcnt1_i32_b32 s4, vcc_lo\n v_mov_b32 %0, s4" : "=v"(y) : "v"(x) : "vcc", "s4"); break;
    case 16: __atomic_fetch_add(out, x, __ATOMIC_RELAXED); break;
    case 17: y = __builtin_amdgcn_readfirstlane(x); break;
    // Some lanes are below 5, whatever the undefined values are.
    case 19: asm volatile("v_cmp_gt_u32 vcc_lo, 5, %1\n s_cbranch_vccz 1f\n v_mov_b32 %0, 1\n1:" : "+v"(y) : "v"(x) : "vcc"); break;
    case 18: asm volatile("ds_add_u32 %0, %1" : : "v"(base + 256), "v"(1)); break;
    }
    out[TX] = y;
}

// Memory keeps the marks: shared memory, if `how` is below 4, and private memory otherwise.
GLOBAL void keep(u32 *out, u32 how) {
    SHARED u32 words[128];
    u32 base = (u32)(unsigned long long)words;
    if (TX < 16) words[TX] = TX;
    BARRIER();
    u32 x = load(base + 4 * TX), y = 7, own = base + 256 + 4 * TX;
    volatile u32 room[8];
    if (how < 4) {
        asm volatile("ds_store_b32 %0, %1\n s_waitcnt lgkmcnt(0)" : : "v"(own), "v"(x));
        if (how == 1) asm volatile("ds_store_b8 %0, %1\n s_waitcnt lgkmcnt(0)" : : "v"(own), "v"(TX));
        if (how == 2) asm volatile("ds_store_b32 %0, %1\n s_waitcnt lgkmcnt(0)" : : "v"(own), "v"(TX));
        BARRIER();
        y = load(own);
        if (how == 0) y = 7;
        if (how == 1) y &= 0xff;
    } else {
        room[how & 7] = x;
        room[(how + 1) & 7] = TX;
        y = room[(how >> 4) & 7];
    }
    out[TX] = y;
}

// A product whose left matrix is undefined in the rows from 8 on.
GLOBAL void product(f8 *out, u32 how) {
    SHARED _Float16 tile[16][16];
    if (TX < 8) for (u32 i = 0; i < 16; ++i) tile[TX][i] = 1.0f;
    BARRIER();
    h16 a, ones;
    const _Float16 *row = tile[TX % 16];
    for (u32 i = 0; i < 16; ++i) a[i] = row[i], ones[i] = 1.0f;
    f8 sums = {};
    sums = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(a, ones, sums);
    // An element of a lane is in row 2 i + lane / 16.
    if (how == 0) sums[4] = sums[5] = sums[6] = sums[7] = 0.0f;
    out[TX] = sums;
}
