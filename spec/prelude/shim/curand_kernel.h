// Random numbers in kernels, as cuRAND's device functions give them. Philox4_32_10 (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", 2011) and XORWOW (Marsaglia, "Xorshift RNGs", 2003) are cuRAND's generators. A seed and a
// sequence of XORWOW begin at other places of it than in cuRAND, so its numbers differ from those on NVIDIA GPUs.
#ifndef KILN_SHIM_CURAND_KERNEL_H
#define KILN_SHIM_CURAND_KERNEL_H

struct curandStateXORWOW {
    unsigned int kiln_x[5], kiln_d;
    float kiln_normal;
    bool kiln_has_normal;
};
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;

struct curandStatePhilox4_32_10 {
    uint4 kiln_counter, kiln_output;
    uint2 kiln_key;
    unsigned int kiln_used;
    float kiln_normal;
    bool kiln_has_normal;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

// A well mixed number of 64 bits (Steele et al., "Fast splittable pseudorandom number generators", 2014).
KILN_INLINE unsigned long long kiln_curand_mix(unsigned long long x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}
KILN_INLINE unsigned int curand(curandStateXORWOW* state) {
    unsigned int t = state->kiln_x[0] ^ state->kiln_x[0] >> 2;
    for (int i = 0; i < 4; ++i) state->kiln_x[i] = state->kiln_x[i + 1];
    state->kiln_x[4] = state->kiln_x[4] ^ state->kiln_x[4] << 4 ^ t ^ t << 1;
    state->kiln_d += 362437;
    return state->kiln_x[4] + state->kiln_d;
}
KILN_INLINE void skipahead(unsigned long long count, curandStateXORWOW* state) {
    for (; count; --count) curand(state);
}
KILN_INLINE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                             curandStateXORWOW* state) {
    unsigned long long mixed = kiln_curand_mix(seed + 0x9e3779b97f4a7c15ull) ^ kiln_curand_mix(~sequence);
    for (unsigned int& word : state->kiln_x) {
        mixed = kiln_curand_mix(mixed + 0x9e3779b97f4a7c15ull);
        word = (unsigned int)mixed | 1u;
    }
    state->kiln_d = (unsigned int)(mixed >> 32);
    state->kiln_has_normal = false;
    skipahead(offset, state);
}

KILN_INLINE uint4 kiln_philox(uint4 counter, uint2 key) {
    for (int round = 0; round < 10; ++round) {
        const unsigned long long a = 0xd2511f53ull * counter.x, b = 0xcd9e8d57ull * counter.z;
        counter = make_uint4((unsigned int)(b >> 32) ^ counter.y ^ key.x, (unsigned int)b,
                             (unsigned int)(a >> 32) ^ counter.w ^ key.y, (unsigned int)a);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return counter;
}
KILN_INLINE void kiln_philox_next(curandStatePhilox4_32_10* state) {
    if (++state->kiln_counter.x == 0 && ++state->kiln_counter.y == 0 && ++state->kiln_counter.z == 0) ++state->kiln_counter.w;
    state->kiln_output = kiln_philox(state->kiln_counter, state->kiln_key);
}
KILN_INLINE void skipahead(unsigned long long count, curandStatePhilox4_32_10* state) {
    const unsigned long long used = state->kiln_used + count, blocks = used / 4;
    const unsigned long long low = (unsigned long long)state->kiln_counter.y << 32 | state->kiln_counter.x, sum = low + blocks;
    state->kiln_used = (unsigned int)(used % 4);
    state->kiln_counter.x = (unsigned int)sum;
    state->kiln_counter.y = (unsigned int)(sum >> 32);
    if (sum < low && ++state->kiln_counter.z == 0) ++state->kiln_counter.w;
    state->kiln_output = kiln_philox(state->kiln_counter, state->kiln_key);
}
KILN_INLINE void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                             curandStatePhilox4_32_10* state) {
    state->kiln_counter = make_uint4(0, 0, (unsigned int)sequence, (unsigned int)(sequence >> 32));
    state->kiln_key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
    state->kiln_used = 0;
    state->kiln_has_normal = false;
    skipahead(offset, state);
}
KILN_INLINE unsigned int curand(curandStatePhilox4_32_10* state) {
    const unsigned int words[4] = {state->kiln_output.x, state->kiln_output.y, state->kiln_output.z, state->kiln_output.w};
    const unsigned int word = words[state->kiln_used];
    if (++state->kiln_used == 4) {
        state->kiln_used = 0;
        kiln_philox_next(state);
    }
    return word;
}
KILN_INLINE uint4 curand4(curandStatePhilox4_32_10* state) {
    uint4 words;
    words.x = curand(state);
    words.y = curand(state);
    words.z = curand(state);
    words.w = curand(state);
    return words;
}

// In (0, 1].
KILN_INLINE float kiln_curand_unit(unsigned int word) { return (float)word * 2.3283064e-10f + 1.16415322e-10f; }
template <class State> KILN_INLINE float curand_uniform(State* state) { return kiln_curand_unit(curand(state)); }
template <class State> KILN_INLINE double curand_uniform_double(State* state) {
    const unsigned long long low = curand(state), high = curand(state);
    return (double)((high << 32 | low) >> 11) * 1.1102230246251565e-16 + 5.5511151231257827e-17;
}
KILN_INLINE float4 curand_uniform4(curandStatePhilox4_32_10* state) {
    const uint4 words = curand4(state);
    return make_float4(kiln_curand_unit(words.x), kiln_curand_unit(words.y), kiln_curand_unit(words.z),
                       kiln_curand_unit(words.w));
}
// Two numbers of the normal distribution at once, by Box and Muller.
template <class State> KILN_INLINE float2 curand_normal2(State* state) {
    const float radius = sqrtf(-2.0f * logf(curand_uniform(state)));
    const float turn = 6.2831853f * curand_uniform(state);
    return make_float2(radius * sinf(turn), radius * cosf(turn));
}
template <class State> KILN_INLINE float curand_normal(State* state) {
    state->kiln_has_normal = !state->kiln_has_normal;
    if (!state->kiln_has_normal) return state->kiln_normal;
    const float2 both = curand_normal2(state);
    state->kiln_normal = both.y;
    return both.x;
}
KILN_INLINE float4 curand_normal4(curandStatePhilox4_32_10* state) {
    const float2 a = curand_normal2(state), b = curand_normal2(state);
    return make_float4(a.x, a.y, b.x, b.y);
}
template <class State> KILN_INLINE float curand_log_normal(State* state, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(state));
}

#endif
