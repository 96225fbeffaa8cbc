// Functions of float without branches or calls, so that loops over them vectorise: the C library's are a call an
// element. The coefficients are minimax ones of this project's own fits. Errors in units in the last place are in
// docs/device-prelude.md and measured by spec/tests/device_math.rs; infinities, NaN, signed zeros and subnormal
// results are as the C library's.
//
// Products and sums are written apart and not as fmaf, which is a call on processors without that instruction; where
// there is one, the compiler contracts them. The order of operations is right either way.
#ifndef KILN_CPU_FLOAT_MATH_H
#define KILN_CPU_FLOAT_MATH_H

// Without gnu_inline clang takes a function of this name for the C library's, although it sees the definition.
#define KILN_CPU_OWN_MATH extern inline __attribute__((always_inline, gnu_inline))

extern "C" {

KILN_INLINE float kiln_cpu_between(float x, float bound) {
    float bounded = x > -bound ? x : -bound;
    return bounded < bound ? bounded : bound;
}

// 2^n for a whole n from -126 to 127.
KILN_INLINE float kiln_cpu_power_of_two(int n) { return __int_as_float((n + 127) << 23); }

// e^(high + low) - 1 for a sum below 0.35, of which `low` is a small part.
KILN_INLINE float kiln_cpu_small_expm1(float high, float low) {
    float r = high + low;
    float p = 1.38142216e-3f;
    p = p * r + 8.36889911e-3f;
    p = p * r + 4.16684039e-2f;
    p = p * r + 1.66665196e-1f;
    p = p * r + 4.99999940e-1f;
    return p * (r * r) + low + high;
}

// n log(2) in two parts. The first has so few bits that its product with n is exact, and so is the difference from a
// number that the product is near to.
#define KILN_CPU_LOG2_HIGH 0.693359375f
#define KILN_CPU_LOG2_LOW -2.12194440e-4f

// e^x / 2^n, for n the whole number nearest to x / log(2).
KILN_INLINE float kiln_cpu_reduced_exp(float x, float n) {
    return kiln_cpu_small_expm1(x - n * KILN_CPU_LOG2_HIGH, n * -KILN_CPU_LOG2_LOW) + 1.0f;
}

// scale 2^n for a whole n of at most 250. Two powers of two are multiplied in, so that overflow gives infinity and
// underflow zero, or a subnormal number, without a branch.
KILN_INLINE float kiln_cpu_scaled(float scale, float n) {
    int whole = (int)n, low = whole >> 1;
    return scale * kiln_cpu_power_of_two(low) * kiln_cpu_power_of_two(whole - low);
}

KILN_CPU_OWN_MATH float expf(float x) noexcept {
    float bounded = kiln_cpu_between(x, 150.0f);
    float n = __builtin_rintf(bounded * 1.44269504f);
    float power = kiln_cpu_scaled(kiln_cpu_reduced_exp(bounded, n), n);
    return x == x ? power : x;
}
KILN_CPU_OWN_MATH float __expf(float x) noexcept { return expf(x); }

// 2^f for |f| of at most a half.
KILN_INLINE float kiln_cpu_reduced_exp2(float f) {
    float p = 1.53533620e-4f;
    p = p * f + 1.33988739e-3f;
    p = p * f + 9.61843692e-3f;
    p = p * f + 5.55033237e-2f;
    p = p * f + 2.40226477e-1f;
    p = p * f + 6.93147182e-1f;
    return p * f + 1.0f;
}

KILN_INLINE float kiln_cpu_exp2(float x) {
    float bounded = kiln_cpu_between(x, 220.0f);
    float n = __builtin_rintf(bounded);
    float power = kiln_cpu_scaled(kiln_cpu_reduced_exp2(bounded - n), n);
    return x == x ? power : x;
}
// 2^x for x from -126 to 127: the whole part is added to the exponent.
KILN_INLINE float kiln_cpu_normal_exp2(float x) {
    float n = __builtin_rintf(x);
    return __int_as_float(__float_as_int(kiln_cpu_reduced_exp2(x - n)) + ((int)n << 23));
}
KILN_CPU_OWN_MATH float exp2f(float x) noexcept { return kiln_cpu_exp2(x); }
// 2^x, but zero below the smallest normal number. At 128 the exponent is that of infinity.
KILN_INLINE float kiln_cpu_fast_exp2(float x) {
    float low = x < -126.0f ? -126.0f : x;
    float power = kiln_cpu_normal_exp2(low > 128.0f ? 128.0f : low);
    power = x < -126.0f ? 0.0f : power;
    return x == x ? power : x;
}

// e^x where it is a normal number, for |x| of at most 80.
KILN_INLINE float kiln_cpu_normal_exp(float x) {
    float n = __builtin_rintf(x * 1.44269504f);
    return kiln_cpu_reduced_exp(x, n) * kiln_cpu_power_of_two((int)n);
}

// The logarithm of m 2^k, with m from sqrt(1/2) to sqrt(2).
KILN_CPU_OWN_MATH float logf(float x) noexcept {
    // Subnormal numbers have no exponent of their own.
    bool subnormal = x < 1.17549435e-38f;
    int bits = __float_as_int(subnormal ? x * 8388608.0f : x);
    int exponent = (bits - 0x3f3504f3) >> 23;
    float f = __int_as_float(bits - (int)((unsigned int)exponent << 23)) - 1.0f;
    float k = (float)(exponent - (subnormal ? 23 : 0));
    float p = -7.63632059e-2f;
    p = p * f + 1.27636597e-1f;
    p = p * f - 1.31605014e-1f;
    p = p * f + 1.42015040e-1f;
    p = p * f - 1.66233003e-1f;
    p = p * f + 2.00012356e-1f;
    p = p * f - 2.50008225e-1f;
    p = p * f + 3.33333313e-1f;
    float square = f * f;
    float rest = p * f * square - 0.5f * square;
    float log = k * KILN_CPU_LOG2_HIGH + (f + (rest + k * KILN_CPU_LOG2_LOW));
    float special = x == 0.0f ? -INFINITY : NAN;
    return x > 0.0f ? (x < INFINITY ? log : x) : special;
}
KILN_CPU_OWN_MATH float __logf(float x) noexcept { return logf(x); }

KILN_CPU_OWN_MATH float tanhf(float x) noexcept {
    float s = x * x;
    float p = -5.70497848e-3f;
    p = p * s + 2.06390787e-2f;
    p = p * s - 5.37397116e-2f;
    p = p * s + 1.33314416e-1f;
    p = p * s - 3.33332807e-1f;
    float near = p * s * x + x;
    // 1 - tanh(a) = 2 / (e^2a + 1); beyond 10 the result is 1.
    float a = __builtin_fabsf(x), twice = 2.0f * a;
    float far = 1.0f - 2.0f / (kiln_cpu_normal_exp(twice < 20.0f ? twice : 20.0f) + 1.0f);
    return a < 0.625f ? near : x == x ? __builtin_copysignf(far, x) : x;
}
KILN_CPU_OWN_MATH float __tanhf(float x) noexcept { return tanhf(x); }

// erf(x) for |x| below 0.925.
KILN_INLINE float kiln_cpu_near_erf(float x) {
    float s = x * x;
    float p = -5.97658859e-4f;
    p = p * s + 4.99041285e-3f;
    p = p * s - 2.67647542e-2f;
    p = p * s + 1.12817660e-1f;
    p = p * s - 3.76124889e-1f;
    p = p * s + 1.28379151e-1f;
    return p * x + x;
}

KILN_CPU_OWN_MATH float erff(float x) noexcept {
    // log(1 - erf(a)); beyond 4 the result is 1.
    float a = __builtin_fabsf(x), t = a < 4.0f ? a : 4.0f;
    float l = -2.10949693e-5f;
    l = l * t + 4.34461719e-4f;
    l = l * t - 4.17105900e-3f;
    l = l * t + 2.51194183e-2f;
    l = l * t - 1.08280078e-1f;
    l = l * t - 6.33346915e-1f;
    l = l * t - 1.12951493f;
    l = l * t + 1.74683286e-4f;
    float far = 1.0f - kiln_cpu_normal_exp(l);
    return a < 0.925f ? kiln_cpu_near_erf(x) : x == x ? __builtin_copysignf(far, x) : x;
}

// e^(a^2) erfc(a) e^-(square + rest) for a from 0.74 to 10.3, where square + rest is a^2, or what a was rounded from squared.
KILN_INLINE float kiln_cpu_tail(float a, float square, float rest) {
    float t = 1.0f / (a + 1.25f), q = (a - 1.25f) * t;
    float p = 0.00239804154f;
    p = p * q - 0.0021094149f;
    p = p * q - 0.00540988892f;
    p = p * q - 0.00517861871f;
    p = p * q + 0.014022965f;
    p = p * q + 0.0485339649f;
    p = p * q - 0.0220347773f;
    p = p * q - 0.385579377f;
    p = p * q + 0.919557273f;
    float n = __builtin_rintf(square * -1.44269504f);
    float e = kiln_cpu_small_expm1(-square - n * KILN_CPU_LOG2_HIGH, n * -KILN_CPU_LOG2_LOW - rest), scaled = p * t;
    return kiln_cpu_scaled(scaled * e + scaled, n);
}

// The upper 12 bits of a number's fraction: their square is exact.
KILN_INLINE float kiln_cpu_upper_half(float x) { return __int_as_float(__float_as_int(x) & ~0xfff); }

KILN_CPU_OWN_MATH float erfcf(float x) noexcept {
    float a = __builtin_fabsf(x);
    a = a < 10.2f ? a : 10.2f;
    float upper = kiln_cpu_upper_half(a);
    float tail = kiln_cpu_tail(a, upper * upper, (a - upper) * (a + upper));
    float far = x < 0.0f ? 2.0f - tail : tail;
    return a < 0.76f ? 1.0f - kiln_cpu_near_erf(x) : x == x ? far : x;
}

// erfc(-x / sqrt(2)) / 2: its exponential is that of x^2 / 2, which has no error of sqrt(2).
KILN_INLINE float normcdff(float x) {
    float a = __builtin_fabsf(x);
    a = a < 14.4f ? a : 14.4f;
    float upper = kiln_cpu_upper_half(a);
    float tail = 0.5f * kiln_cpu_tail(a * 0.707106781f, 0.5f * upper * upper, 0.5f * (a - upper) * (a + upper));
    float far = x > 0.0f ? 1.0f - tail : tail;
    return a < 1.06f ? 0.5f + 0.5f * kiln_cpu_near_erf(x * 0.707106781f) : x == x ? far : x;
}

KILN_CPU_C_INLINE float rsqrtf(float x) noexcept { return 1.0f / __builtin_sqrtf(x); }

}  // extern "C"

#endif
