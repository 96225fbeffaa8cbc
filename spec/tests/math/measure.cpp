// Measures the functions of prelude/portable/math on this machine: prints, for each function and type, the largest
// error in units in the last place against the C library's long double functions.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define KILN_INLINE static inline
#define KILN_MEMBER inline
#include "portable/math/angle.h"
#include "portable/math/arc.h"
#include "portable/math/error_function.h"
#include "portable/math/exponential.h"
#include "portable/math/gamma.h"
#include "portable/math/logarithm.h"
#include "portable/math/parts.h"
#include "portable/math/root.h"

typedef long double wide;
static const int samples = 60000;
static const double no_answer = 1e9;

static uint64_t state = 88172645463325252ull;
static uint64_t random_bits() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}
// Any bit pattern: every magnitude, infinities and NaN as well.
template <class T> T any() {
    T x;
    uint64_t bits = random_bits();
    memcpy(&x, &bits, sizeof x);
    return x;
}
template <class T> T between(double low, double high) {
    return (T)(low + (high - low) * ((random_bits() >> 11) * 0x1p-53));
}

template <class T> struct limits;
template <> struct limits<float> { static constexpr int digits = 24, lowest = -149; static constexpr char name = 'f'; };
template <> struct limits<double> { static constexpr int digits = 53, lowest = -1074; static constexpr char name = 'd'; };

// The error of a result in units in the last place of the right one; of zeros, whether the sign is wrong.
template <class T> double error(T got, wide right) {
    T nearest = (T)right;
    if (isnan(right)) return isnan(got) ? 0 : no_answer;
    if (isnan(got)) return no_answer;
    if (isinf(nearest) || isinf(got)) {
        // A result of the type's last number may round to infinity, or the other way round.
        wide end = ldexpl(2 - ldexpl(1, 1 - limits<T>::digits), limits<T>::digits == 24 ? 127 : 1023);
        bool near = fabsl(isinf(got) ? right : got) >= end * (1 - ldexpl(4, -limits<T>::digits));
        return nearest == got ? 0 : near && signbit(got) == signbit(nearest) ? 1 : no_answer;
    }
    if (right == 0) return got == 0 && signbit(got) == signbit(nearest) ? 0 : no_answer;
    int exponent;
    frexpl(right, &exponent);
    exponent -= limits<T>::digits;
    if (exponent < limits<T>::lowest) exponent = limits<T>::lowest;
    return (double)(fabsl((wide)got - right) / ldexpl(1, exponent));
}

static const double special[] = {0.0, -0.0, 1, -1, 2, 3, -3, 0.5, -0.5, 1.5, 1e-30, -1e30, INFINITY, -INFINITY, NAN, 1e30};

template <class T, class Ours, class Theirs>
void measure(const char* name, Ours ours, Theirs theirs, double low, double high, bool everywhere = true) {
    double worst = 0;
    T at = 0;
    for (int i = 0; i < samples; i++) {
        T x = i < 16 && everywhere ? (T)special[i] : everywhere && i % 2 ? any<T>() : between<T>(low, high);
        double e = error(ours(x), theirs((wide)x));
        if (e > worst) worst = e, at = x;
    }
    printf("%s %c %.3f %a\n", name, limits<T>::name, worst, (double)at);
}

template <class T, class Ours, class Theirs>
void measure2(const char* name, Ours ours, Theirs theirs, double low, double high, double low2, double high2) {
    double worst = 0;
    T at = 0;
    for (int i = 0; i < samples; i++) {
        T x = i % 3 == 0 ? any<T>() : between<T>(low, high), y = i % 3 == 1 ? any<T>() : between<T>(low2, high2);
        if (i % 9 == 0) y = any<T>();
        if (i < 256) x = (T)special[i / 16], y = (T)special[i % 16];
        double e = error(ours(x, y), theirs((wide)x, (wide)y));
        if (e > worst) worst = e, at = x;
    }
    printf("%s %c %.3f %a\n", name, limits<T>::name, worst, (double)at);
}

// New C libraries have functions of these names too, which may be less accurate.
#define sinpil wide_sinpi
#define cospil wide_cospi
#define normcdfl wide_normcdf
#define rcbrtl wide_rcbrt

static const wide pi_wide = 3.14159265358979323846264338327950288L;
// The half turn that x is in, folded to a quarter.
static wide wide_sinpi(wide x) {
    if (!isfinite(x)) return NAN;
    if (rintl(x) == x) return copysignl(0, x);
    wide r = x - 2 * rintl(x / 2), a = fabsl(r);
    if (a > 0.5L) a = 1 - a;
    return copysignl(a > 0.25L ? cosl((0.5L - a) * pi_wide) : sinl(a * pi_wide), r);
}
static wide wide_cospi(wide x) {
    if (!isfinite(x)) return NAN;
    wide r = fabsl(x - 2 * rintl(x / 2));
    bool negative = r > 0.5L;
    if (negative) r = 1 - r;
    wide size = r == 0.5L ? 0 : r < 0.25L ? cosl(r * pi_wide) : sinl((0.5L - r) * pi_wide);
    return negative && size != 0 ? -size : size;
}
static wide wide_normcdf(wide x) { return 0.5L * erfcl(-x * 0.70710678118654752440084436210484903928L); }
static wide wide_rcbrt(wide x) { return 1 / cbrtl(x); }

#define ONE(name, low, high)                                                                              \
    measure<float>(#name, [](float x) { return kiln_math::name(x); }, [](wide x) { return name##l(x); }, low, high); \
    measure<double>(#name, [](double x) { return kiln_math::name(x); }, [](wide x) { return name##l(x); }, low, high);
#define TWO(name, low, high, low2, high2)                                                                 \
    measure2<float>(#name, [](float x, float y) { return kiln_math::name(x, y); },                        \
                    [](wide x, wide y) { return name##l(x, y); }, low, high, low2, high2);                \
    measure2<double>(#name, [](double x, double y) { return kiln_math::name(x, y); },                     \
                     [](wide x, wide y) { return name##l(x, y); }, low, high, low2, high2);
#define GAMMA(name, low, high)                                                                            \
    measure<float>(name, [](float x) { return kiln_math::lgamma(x); }, lgammal, low, high, false);        \
    measure<double>(name, [](double x) { return kiln_math::lgamma(x); }, lgammal, low, high, false);

static void parts_are_exact() {
    int wrong = 0;
    for (int i = 0; i < samples; i++) {
        double x = any<double>(), y = any<double>();
        float f = any<float>();
        int a, b;
        if (isfinite(x)) wrong += kiln_math::frexp(x, &a) != frexp(x, &b) || a != b;
        if (isfinite(f)) wrong += kiln_math::frexp(f, &a) != frexpf(f, &b) || a != b;
        if (!isnan(x)) wrong += kiln_math::logb(x) != logb(x) || kiln_math::ilogb(x) != ilogb(x);
        if (!isnan(x + y)) wrong += kiln_math::nextafter(x, y) != nextafter(x, y);
        if (!isnan(f)) wrong += kiln_math::nextafter(f, 1.0f) != nextafterf(f, 1.0f);
        double s, c;
        kiln_math::sincos(y, &s, &c);
        if (isfinite(y)) wrong += s != kiln_math::sin(y) || c != kiln_math::cos(y);
    }
    printf("parts f %d 0x0p+0\n", wrong);
}

int main() {
    ONE(exp, -90, 90) ONE(exp2, -150, 150) ONE(exp10, -46, 40) ONE(expm1, -2, 2)
    ONE(sinh, -5, 5) ONE(cosh, -5, 5) ONE(tanh, -3, 3)
    measure<float>("quick_tanh", [](float x) { return kiln_math::quick_tanh(x); }, tanhl, -3, 3);
    ONE(log, 0, 4) ONE(log2, 0, 4) ONE(log10, 0, 4) ONE(log1p, -0.9, 2)
    ONE(asinh, -3, 3) ONE(acosh, 1, 3) ONE(atanh, -1, 1)
    ONE(sin, -10, 10) ONE(cos, -10, 10) ONE(tan, -10, 10) ONE(sinpi, -3, 3) ONE(cospi, -3, 3)
    ONE(asin, -1, 1) ONE(acos, -1, 1) ONE(atan, -4, 4)
    ONE(cbrt, -10, 10) ONE(rcbrt, -10, 10) ONE(erf, -3, 3) ONE(erfc, -5, 28) ONE(normcdf, -30, 6)
    ONE(tgamma, -20, 35)
    GAMMA("lgamma_positive", 0, 20) GAMMA("lgamma_between", -2.2, 0) GAMMA("lgamma_below", -60, -11.1)
    TWO(pow, 0, 4, -20, 20) TWO(atan2, -4, 4, -4, 4) TWO(hypot, -4, 4, -4, 4)
    TWO(fmod, -100, 100, -3, 3) TWO(remainder, -100, 100, -3, 3)
    parts_are_exact();
}
