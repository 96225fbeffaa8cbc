// The order in which a check build runs blocks, warps and threads. A release build runs them from first to last.
#ifndef KILN_CPU_SCHEDULE_H
#define KILN_CPU_SCHEDULE_H

#if KILN_CPU_CHECK

// A permutation of the numbers below `count`: i -> (i * factor + offset) mod count.
struct kiln_cpu_permutation {
    uint64_t count;
    uint64_t factor;
    uint64_t offset;
};

KILN_CPU_STATE uint32_t kiln_cpu_order;  // KILN_CPU_REVERSE, KILN_CPU_SEEDED or 0
KILN_CPU_STATE uint64_t kiln_cpu_random_state;
KILN_CPU_STATE kiln_cpu_permutation kiln_cpu_block_order;

// The next random number: splitmix64 (Steele, Lea and Flood 2014).
KILN_INLINE uint64_t kiln_cpu_random(void) {
    uint64_t z = (kiln_cpu_random_state += 0x9e3779b97f4a7c15ull);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

KILN_INLINE bool kiln_cpu_coprime(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a == 1;
}

// The permutation of the launch's order. The factor stays below 2^32, so that nothing overflows for fewer
// than 2^32 numbers; beyond that, seeded order is forward order.
KILN_CPU_COLD kiln_cpu_permutation kiln_cpu_permutation_of(uint64_t count) {
    kiln_cpu_permutation order = {count, 1, 0};
    if (count < 2 || !kiln_cpu_order) return order;
    if (kiln_cpu_order == KILN_CPU_REVERSE) {
        order.factor = 0;
        return order;
    }
    if (count >> 32) return order;
    order.factor = 1 + kiln_cpu_random() % (count - 1);
    while (!kiln_cpu_coprime(order.factor, count)) order.factor = order.factor % (count - 1) + 1;
    order.offset = kiln_cpu_random() % count;
    return order;
}

KILN_INLINE uint64_t kiln_cpu_permuted(const kiln_cpu_permutation* order, uint64_t i) {
    if (order->factor == 0) return order->count - 1 - i;
    return (i * order->factor + order->offset) % order->count;
}

// An undefined value. No two of the orders in which a kernel is checked have the same one, and a release build has -1,
// which is NaN: a large positive number, NaN, and a tiny and a large negative one, in every floating-point type.
KILN_CPU_COLD uint64_t kiln_cpu_undefined(void) {
    if (kiln_cpu_order == KILN_CPU_REVERSE) return ~0ull;
    if (kiln_cpu_order != KILN_CPU_SEEDED) return 0x5a5a5a5a5a5a5a5aull;
    return kiln_cpu_job->seed & 1 ? 0xa5a5a5a5a5a5a5a5ull : 0xdadadadadadadadaull;
}

// A random set bit of a mask that is not zero.
KILN_INLINE uint32_t kiln_cpu_random_bit(uint64_t mask) {
    for (uint64_t skip = kiln_cpu_random() % (uint64_t)__builtin_popcountll(mask); skip > 0; skip--) {
        mask &= mask - 1;
    }
    return (uint32_t)__builtin_ctzll(mask);
}

// Takes the order that the launch asks for.
KILN_CPU_COLD void kiln_cpu_set_order(const kiln_cpu_launch* launch, uint64_t first) {
    kiln_cpu_order = launch->flags & (KILN_CPU_REVERSE | KILN_CPU_SEEDED);
    kiln_cpu_random_state = launch->seed;
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    kiln_cpu_block_order = kiln_cpu_permutation_of(blocks);
    // A launch may run in parts, which share the order of blocks but not that of threads.
    kiln_cpu_random_state += first;
}

#endif

#endif
