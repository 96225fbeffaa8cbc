// The functions of half and half2, and those of __nv_bfloat16 and __nv_bfloat162: half.h and bfloat16.h include this
// file once each. The definitions are those of the CUDA Math API. A function of the two-element type does to each
// element what the function of one element does.

#define KILN_JOIN_OF(a, b, c) a##b##c
#define KILN_JOIN(a, b, c) KILN_JOIN_OF(a, b, c)
#define KILN_TO(to) KILN_JOIN(__, KILN_FLOAT16_NAME, to)
#define KILN_FROM(from, how) KILN_JOIN(from, KILN_FLOAT16_NAME, how)
#define KILN_PAIR_FROM(from, how) KILN_JOIN(from, KILN_FLOAT16_PAIR_NAME, how)
#define KILN_F KILN_FLOAT16
#define KILN_F2 KILN_FLOAT16_PAIR

// Conversions.
KILN_INLINE float KILN_TO(2float)(KILN_F x) { return (float)x; }
KILN_INLINE KILN_F KILN_FROM(__float2, )(float x) { return (KILN_F)x; }
KILN_INLINE KILN_F KILN_FROM(__float2, _rn)(float x) { return (KILN_F)x; }
KILN_INLINE KILN_F KILN_FROM(__float2, _rz)(float x) { return kiln_toward_zero((KILN_F)x, x); }
KILN_INLINE KILN_F KILN_FROM(__float2, _rd)(float x) { return kiln_down((KILN_F)x, x); }
KILN_INLINE KILN_F KILN_FROM(__float2, _ru)(float x) { return kiln_up((KILN_F)x, x); }
KILN_INLINE KILN_F KILN_FROM(__double2, )(double x) { return (KILN_F)x; }
KILN_INLINE unsigned short KILN_TO(_as_ushort)(KILN_F x) { return kiln_bits<unsigned short>(x); }
KILN_INLINE short KILN_TO(_as_short)(KILN_F x) { return kiln_bits<short>(x); }
KILN_INLINE KILN_F KILN_FROM(__ushort_as_, )(unsigned short x) { return kiln_bits<KILN_F>(x); }
KILN_INLINE KILN_F KILN_FROM(__short_as_, )(short x) { return kiln_bits<KILN_F>(x); }

#define KILN_FLOAT16_INTEGER(name, T, to)                                                              \
    KILN_INLINE T KILN_TO(2##name##_rn)(KILN_F x) { return kiln_to_##to(__builtin_rintf((float)x)); }  \
    KILN_INLINE T KILN_TO(2##name##_rz)(KILN_F x) { return kiln_to_##to((float)x); }                   \
    KILN_INLINE T KILN_TO(2##name##_rd)(KILN_F x) { return kiln_to_##to(__builtin_floorf((float)x)); } \
    KILN_INLINE T KILN_TO(2##name##_ru)(KILN_F x) { return kiln_to_##to(__builtin_ceilf((float)x)); }  \
    KILN_INLINE KILN_F KILN_FROM(__##name##2, _rn)(T x) { return (KILN_F)kiln_odd_float(x); }          \
    KILN_INLINE KILN_F KILN_FROM(__##name##2, _rz)(T x) { return KILN_FROM(__float2, _rz)(kiln_odd_float(x)); } \
    KILN_INLINE KILN_F KILN_FROM(__##name##2, _rd)(T x) { return KILN_FROM(__float2, _rd)(kiln_odd_float(x)); } \
    KILN_INLINE KILN_F KILN_FROM(__##name##2, _ru)(T x) { return KILN_FROM(__float2, _ru)(kiln_odd_float(x)); }
KILN_FLOAT16_INTEGER(short, short, float2short)
KILN_FLOAT16_INTEGER(ushort, unsigned short, float2ushort)
KILN_FLOAT16_INTEGER(int, int, float2int)
KILN_FLOAT16_INTEGER(uint, unsigned int, float2uint)
KILN_FLOAT16_INTEGER(ll, long long, float2ll)
KILN_FLOAT16_INTEGER(ull, unsigned long long, float2ull)
#undef KILN_FLOAT16_INTEGER
KILN_INLINE signed char KILN_TO(2char_rz)(KILN_F x) { return kiln_to_float2char((float)x); }
KILN_INLINE unsigned char KILN_TO(2uchar_rz)(KILN_F x) { return kiln_to_float2uchar((float)x); }

// Two elements, and one of two.
KILN_INLINE KILN_F2 KILN_PAIR_FROM(make_, )(KILN_F x, KILN_F y) { return KILN_F2(x, y); }
KILN_INLINE KILN_F2 KILN_PAIR_FROM(__halves2, )(KILN_F x, KILN_F y) { return KILN_F2(x, y); }
KILN_INLINE KILN_F2 KILN_JOIN(KILN_TO(2), KILN_FLOAT16_PAIR_NAME, )(KILN_F x) { return KILN_F2(x, x); }
KILN_INLINE KILN_F2 KILN_PAIR_FROM(__float2, _rn)(float x) { return KILN_F2((KILN_F)x, (KILN_F)x); }
KILN_INLINE KILN_F2 KILN_PAIR_FROM(__floats2, _rn)(float x, float y) { return KILN_F2((KILN_F)x, (KILN_F)y); }
KILN_INLINE KILN_F2 KILN_PAIR_FROM(__float22, _rn)(float2 v) { return KILN_F2((KILN_F)v.x, (KILN_F)v.y); }
KILN_INLINE float2 KILN_PAIR_FROM(__, 2float2)(KILN_F2 v) { return float2{(float)v.x, (float)v.y}; }
KILN_INLINE KILN_F KILN_FROM(__low2, )(KILN_F2 v) { return v.x; }
KILN_INLINE KILN_F KILN_FROM(__high2, )(KILN_F2 v) { return v.y; }
KILN_INLINE float __low2float(KILN_F2 v) { return (float)v.x; }
KILN_INLINE float __high2float(KILN_F2 v) { return (float)v.y; }
KILN_INLINE KILN_F2 KILN_PAIR_FROM(__low2, )(KILN_F2 v) { return KILN_F2(v.x, v.x); }
KILN_INLINE KILN_F2 KILN_PAIR_FROM(__high2, )(KILN_F2 v) { return KILN_F2(v.y, v.y); }
KILN_INLINE KILN_F2 KILN_PAIR_FROM(__lows2, )(KILN_F2 a, KILN_F2 b) { return KILN_F2(a.x, b.x); }
KILN_INLINE KILN_F2 KILN_PAIR_FROM(__highs2, )(KILN_F2 a, KILN_F2 b) { return KILN_F2(a.y, b.y); }
KILN_INLINE KILN_F2 __lowhigh2highlow(KILN_F2 v) { return KILN_F2(v.y, v.x); }

// Arithmetic. Computed in float and rounded once: right for +, -, *, / of two elements.
#define KILN_FLOAT16_2(name, two, expression)                                                          \
    KILN_INLINE KILN_F name(KILN_F a, KILN_F b) { return expression; }                                 \
    KILN_INLINE KILN_F2 two(KILN_F2 a, KILN_F2 b) { return KILN_F2(name(a.x, b.x), name(a.y, b.y)); }
#define KILN_FLOAT16_ARITHMETIC(name, op)                                                              \
    KILN_FLOAT16_2(__h##name, __h##name##2, (KILN_F)((float)a op (float)b))                            \
    KILN_FLOAT16_2(__h##name##_rn, __h##name##2_rn, (KILN_F)((float)a op (float)b))                    \
    KILN_FLOAT16_2(__h##name##_sat, __h##name##2_sat, (KILN_F)__saturatef((float)a op (float)b))
KILN_FLOAT16_ARITHMETIC(add, +)
KILN_FLOAT16_ARITHMETIC(sub, -)
KILN_FLOAT16_ARITHMETIC(mul, *)
#undef KILN_FLOAT16_ARITHMETIC
KILN_FLOAT16_2(__hdiv, __h2div, (KILN_F)((float)a / (float)b))

// +0 is above -0.
KILN_FLOAT16_2(__hmax, __hmax2, kiln_higher(a, b))
KILN_FLOAT16_2(__hmin, __hmin2, kiln_lower(a, b))
KILN_FLOAT16_2(__hmax_nan, __hmax2_nan, kiln_is_pair_of_numbers(a, b) ? kiln_higher(a, b) : kiln_bits<KILN_F>((short)0x7fff))
KILN_FLOAT16_2(__hmin_nan, __hmin2_nan, kiln_is_pair_of_numbers(a, b) ? kiln_lower(a, b) : kiln_bits<KILN_F>((short)0x7fff))
#undef KILN_FLOAT16_2

KILN_INLINE KILN_F __habs(KILN_F a) { return kiln_bits<KILN_F>((unsigned short)(kiln_bits<unsigned short>(a) & 0x7fff)); }
KILN_INLINE KILN_F2 __habs2(KILN_F2 v) { return KILN_F2(__habs(v.x), __habs(v.y)); }
KILN_INLINE KILN_F2 __hneg2(KILN_F2 v) { return KILN_F2(__hneg(v.x), __hneg(v.y)); }
KILN_INLINE KILN_F __hfma_sat(KILN_F a, KILN_F b, KILN_F c) { return (KILN_F)__saturatef((float)__hfma(a, b, c)); }
KILN_INLINE KILN_F __hfma_relu(KILN_F a, KILN_F b, KILN_F c) {
    KILN_F sum = __hfma(a, b, c);
    return (float)sum >= 0 ? sum : kiln_bits<KILN_F>((short)((float)sum < 0 ? 0 : 0x7fff));
}
#define KILN_FLOAT16_3(two, one)                                                                       \
    KILN_INLINE KILN_F2 two(KILN_F2 a, KILN_F2 b, KILN_F2 c) {                                         \
        return KILN_F2(one(a.x, b.x, c.x), one(a.y, b.y, c.y));                                        \
    }
KILN_FLOAT16_3(__hfma2, __hfma)
KILN_FLOAT16_3(__hfma2_sat, __hfma_sat)
KILN_FLOAT16_3(__hfma2_relu, __hfma_relu)
#undef KILN_FLOAT16_3
// a * b + c of complex numbers.
KILN_INLINE KILN_F2 __hcmadd(KILN_F2 a, KILN_F2 b, KILN_F2 c) {
    KILN_F2 sum = __hfma2(KILN_F2(a.x, a.x), b, c);
    return __hfma2(KILN_F2(a.y, a.y), KILN_F2(__hneg(b.y), b.x), sum);
}

KILN_INLINE KILN_F2 operator+(KILN_F2 a, KILN_F2 b) { return __hadd2(a, b); }
KILN_INLINE KILN_F2 operator-(KILN_F2 a, KILN_F2 b) { return __hsub2(a, b); }
KILN_INLINE KILN_F2 operator*(KILN_F2 a, KILN_F2 b) { return __hmul2(a, b); }
KILN_INLINE KILN_F2 operator/(KILN_F2 a, KILN_F2 b) { return __h2div(a, b); }
KILN_INLINE KILN_F2 operator-(KILN_F2 v) { return __hneg2(v); }
KILN_INLINE KILN_F2& operator+=(KILN_F2& a, KILN_F2 b) { return a = a + b; }
KILN_INLINE KILN_F2& operator-=(KILN_F2& a, KILN_F2 b) { return a = a - b; }
KILN_INLINE KILN_F2& operator*=(KILN_F2& a, KILN_F2 b) { return a = a * b; }
KILN_INLINE KILN_F2& operator/=(KILN_F2& a, KILN_F2 b) { return a = a / b; }

// Comparisons. The name with `u` is true for a NaN, the other false. Of two elements: 1 or 0 each, whether both are
// true, or all bits of each.
#define KILN_FLOAT16_COMPARE(name, expression)                                                         \
    KILN_INLINE bool __h##name(KILN_F left, KILN_F right) {                                            \
        float a = (float)left, b = (float)right;                                                       \
        return expression;                                                                             \
    }                                                                                                  \
    KILN_INLINE KILN_F2 __h##name##2(KILN_F2 a, KILN_F2 b) {                                           \
        return KILN_F2((KILN_F)(__h##name(a.x, b.x) ? 1.0f : 0.0f), (KILN_F)(__h##name(a.y, b.y) ? 1.0f : 0.0f)); \
    }                                                                                                  \
    KILN_INLINE bool __hb##name##2(KILN_F2 a, KILN_F2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); } \
    KILN_INLINE unsigned int __h##name##2_mask(KILN_F2 a, KILN_F2 b) {                                 \
        return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);        \
    }
KILN_FLOAT16_COMPARE(eq, a == b)
KILN_FLOAT16_COMPARE(ne, a < b || a > b)
KILN_FLOAT16_COMPARE(lt, a < b)
KILN_FLOAT16_COMPARE(le, a <= b)
KILN_FLOAT16_COMPARE(gt, a > b)
KILN_FLOAT16_COMPARE(ge, a >= b)
KILN_FLOAT16_COMPARE(equ, !(a < b || a > b))
KILN_FLOAT16_COMPARE(neu, !(a == b))
KILN_FLOAT16_COMPARE(ltu, !(a >= b))
KILN_FLOAT16_COMPARE(leu, !(a > b))
KILN_FLOAT16_COMPARE(gtu, !(a <= b))
KILN_FLOAT16_COMPARE(geu, !(a < b))
#undef KILN_FLOAT16_COMPARE
KILN_INLINE bool operator==(KILN_F2 a, KILN_F2 b) { return __hbeq2(a, b); }
KILN_INLINE bool operator!=(KILN_F2 a, KILN_F2 b) { return __hbneu2(a, b); }
KILN_INLINE bool operator<(KILN_F2 a, KILN_F2 b) { return __hblt2(a, b); }
KILN_INLINE bool operator<=(KILN_F2 a, KILN_F2 b) { return __hble2(a, b); }
KILN_INLINE bool operator>(KILN_F2 a, KILN_F2 b) { return __hbgt2(a, b); }
KILN_INLINE bool operator>=(KILN_F2 a, KILN_F2 b) { return __hbge2(a, b); }
KILN_INLINE bool __hisnan(KILN_F a) { return isnan((float)a); }
KILN_INLINE int __hisinf(KILN_F a) { return __builtin_isinf_sign((float)a); }
KILN_INLINE KILN_F2 __hisnan2(KILN_F2 v) {
    return KILN_F2((KILN_F)(__hisnan(v.x) ? 1.0f : 0.0f), (KILN_F)(__hisnan(v.y) ? 1.0f : 0.0f));
}

// Mathematical functions, rounded from float's.
#define KILN_FLOAT16_1(name, function)                                                                 \
    KILN_INLINE KILN_F h##name(KILN_F x) { return (KILN_F)(function((float)x)); }                      \
    KILN_INLINE KILN_F2 h2##name(KILN_F2 v) { return KILN_F2(h##name(v.x), h##name(v.y)); }
KILN_FLOAT16_1(exp, expf)
KILN_FLOAT16_1(exp2, exp2f)
KILN_FLOAT16_1(exp10, exp10f)
KILN_FLOAT16_1(log, logf)
KILN_FLOAT16_1(log2, log2f)
KILN_FLOAT16_1(log10, log10f)
KILN_FLOAT16_1(sin, sinf)
KILN_FLOAT16_1(cos, cosf)
KILN_FLOAT16_1(tanh, tanhf)
KILN_FLOAT16_1(tanh_approx, tanhf)
KILN_FLOAT16_1(sqrt, sqrtf)
KILN_FLOAT16_1(rsqrt, rsqrtf)
KILN_FLOAT16_1(rcp, 1.0f /)
KILN_FLOAT16_1(floor, floorf)
KILN_FLOAT16_1(ceil, ceilf)
KILN_FLOAT16_1(trunc, truncf)
KILN_FLOAT16_1(rint, rintf)
#undef KILN_FLOAT16_1

#undef KILN_JOIN_OF
#undef KILN_JOIN
#undef KILN_TO
#undef KILN_FROM
#undef KILN_PAIR_FROM
#undef KILN_F
#undef KILN_F2
#undef KILN_FLOAT16
#undef KILN_FLOAT16_PAIR
#undef KILN_FLOAT16_NAME
#undef KILN_FLOAT16_PAIR_NAME
