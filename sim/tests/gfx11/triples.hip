// Accesses of 12 bytes.
#define GLOBAL extern "C" __attribute__((global))
#define SHARED __attribute__((shared))
typedef unsigned u32;
#define TX (__builtin_amdgcn_workitem_id_x())
#define BARRIER() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
struct Triple { float x, y, z; };
typedef float f3 __attribute__((ext_vector_type(3)));

// Each thread moves a triple through shared memory to the thread on the opposite side of the block.
GLOBAL void swap(const Triple *from, Triple *to, u32 n) {
    // The compiler would access 16 bytes, because the elements are 16 bytes apart.
    SHARED f3 tile[64];
    u32 base = (u32)(unsigned long long)tile;
    if (TX < n) {
        Triple t = from[TX];
        f3 all = {t.x, t.y, t.z};
        asm volatile("ds_store_b96 %0, %1\n s_waitcnt lgkmcnt(0)" : : "v"(base + 16 * TX), "v"(all));
    }
    BARRIER();
    if (TX < n) {
        f3 all;
        asm volatile("ds_load_b96 %0, %1\n s_waitcnt lgkmcnt(0)" : "=v"(all) : "v"(base + 16 * (n - 1 - TX)));
        to[TX] = {all.x, -all.y, all.z};
    }
}
