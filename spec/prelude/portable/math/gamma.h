// The gamma function and its logarithm, in double; floats are rounded from it.
#ifndef KILN_MATH_GAMMA_H
#define KILN_MATH_GAMMA_H

#include "portable/math/angle.h"
#include "portable/math/logarithm.h"

#if defined(__clang__)
#pragma clang fp contract(off)
#endif

namespace kiln_math {

// ln gamma(2 + t) / (t (1 + t)) for |t| <= 1.
KILN_INLINE double log_gamma_tail(double t) {
    return horner(t, 0.42278433509846713, -0.10031730167435392, 0.032965000621156912,
                  -0.012384192193371805, 0.0049986411646271286, -0.0021081308339216706,
                  0.0009153769240386907, -0.00040570739837751511, 0.00018255261539826381,
                  -8.3095114777095614e-05, 3.816907658276081e-05, -1.7661767658452517e-05,
                  8.2212344759429052e-06, -3.8468580915330142e-06, 1.8113906873056685e-06,
                  -8.5456090897588297e-07, 3.958940459367468e-07, -1.8784426446437581e-07,
                  1.042041826608264e-07, -4.9827532071170234e-08, 5.9105658535078692e-09,
                  -2.7296358592514825e-09, 1.6194359237484174e-08, -7.8425577205383561e-09,
                  -4.3124957703508178e-09, 2.0986002157033107e-09, 1.5746606982777302e-09,
                  -7.639292345836201e-10);
}

// Stirling's series: ln gamma(x) = (x - 1/2) ln x - x + ln(2 pi)/2 + 1/(12 x) - .. for x >= 12.
KILN_INLINE pair<double> stirling(pair<double> x) {
    pair<double> log = log_of(x);
    pair<double> whole = product(sum(x, pair<double>{-0.5, 0}), log);
    whole = sum(whole, negated(x));
    whole = sum(whole, pair<double>{0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55});
    double r = 1.0 / x.high, z = r * r;
    double tail = horner(z, 0.083333333333333329, -0.0027777777777777779, 0.00079365079365079365,
                         -0.00059523809523809529, 0.00084175084175084171, -0.0019175269175269176,
                         0.00641025641025641, -0.029550653594771242);
    return sum(whole, pair<double>{r * tail, 0});
}

// x (x + 1) .. up to below twelve, and what x has become.
struct shifted {
    pair<double> factor, x;
};
KILN_INLINE shifted shift_up(double x) {
    shifted result{{1.0, 0.0}, {x, 0.0}};
    while (result.x.high < 12.0) {
        result.factor = product(result.factor, result.x);
        result.x = sum(result.x, pair<double>{1.0, 0.0});
    }
    return result;
}

// ln gamma(x) for x > 0.
static KILN_MEMBER double positive_lgamma(double x) {
    if (x < 1.0) {
        // gamma(x) = gamma(x + 1) / x
        double rest = x - 1.0;
        double above = rest * x * log_gamma_tail(rest);
        return value(sum(pair<double>{above, 0}, negated(log_of(x))));
    }
    if (x <= 3.0) {
        double t = x - 2.0;
        return t * (x - 1.0) * log_gamma_tail(t) + 0.0;
    }
    if (x > 1e17) return x * (log(x) - 1.0);
    shifted up = shift_up(x);
    return value(sum(stirling(up.x), negated(log_of(up.factor))));
}

KILN_INLINE double lgamma(double x) {
    if (is_nan(x)) return x;
    if (is_infinite(x)) return format<double>::infinite;
    if (x > 0) return positive_lgamma(x);
    if (is_integer(x)) return format<double>::infinite;
    // gamma(x) gamma(-x) = -pi / (x sin(pi x))
    double size = -x;
    if (size < 1e-20) return -log(size);
    double sine = magnitude(sinpi(size));
    pair<double> ratio = quotient(pi<double>(), two_product(size, sine));
    return value(log_of(ratio)) - positive_lgamma(size);
}

KILN_INLINE double tgamma(double x) {
    if (is_nan(x)) return x;
    if (x == 0) return with_sign(format<double>::infinite, x);
    if (is_infinite(x)) return x > 0 ? x : format<double>::quiet_nan;
    if (x < 0 && is_integer(x)) return format<double>::quiet_nan;
    if (x > 172.0) return format<double>::infinite;
    if (x < -184.0) return is_odd(nearest(x - 0.5)) ? -0.0 : 0.0;
    double size = magnitude(x);
    if (size < 1e-17) return 1.0 / x;
    if (x > 0) {
        shifted up = shift_up(x);
        split_exp<double> e = exp_of(stirling(up.x));
        return scale(value(quotient(plus_1(e.rest), up.factor)), e.exponent);
    }
    // gamma(x) = -pi / (|x| gamma(|x|) sin(pi |x|)) with the sign of x sin(pi x)
    shifted up = shift_up(size);
    split_exp<double> e = exp_of(negated(stirling(up.x)));
    pair<double> below = product(two_product(size, sinpi(size)), pair<double>{-1.0, 0.0});
    pair<double> result = quotient(product(product(pi<double>(), up.factor), plus_1(e.rest)), below);
    return scale(value(result), e.exponent);
}

KILN_INLINE float lgamma(float x) { return (float)lgamma((double)x); }
KILN_INLINE float tgamma(float x) { return (float)tgamma((double)x); }

}  // namespace kiln_math

#endif
