// CUDA's mathematical functions that neither the C library nor portable/math has, made of those that they have.
#ifndef KILN_MORE_MATH_H
#define KILN_MORE_MATH_H

KILN_INLINE void sincospif(float x, float* s, float* c) {
    *s = sinpif(x);
    *c = cospif(x);
}
KILN_INLINE void sincospi(double x, double* s, double* c) {
    *s = sinpi(x);
    *c = cospi(x);
}

// Lengths. Squares of floats neither overflow nor underflow in double.
KILN_INLINE float kiln_length(float x, float y, float z, float w) {
    if (isinf(x) || isinf(y) || isinf(z) || isinf(w)) return INFINITY;
    return (float)__builtin_sqrt((double)x * x + (double)y * y + ((double)z * z + (double)w * w));
}
KILN_INLINE double kiln_length(double x, double y, double z, double w) { return hypot(hypot(x, y), hypot(z, w)); }
KILN_INLINE float norm3df(float x, float y, float z) { return kiln_length(x, y, z, 0.0f); }
KILN_INLINE double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
KILN_INLINE float norm4df(float x, float y, float z, float w) { return kiln_length(x, y, z, w); }
KILN_INLINE double norm4d(double x, double y, double z, double w) { return kiln_length(x, y, z, w); }
KILN_INLINE float rhypotf(float x, float y) { return 1.0f / kiln_length(x, y, 0.0f, 0.0f); }
KILN_INLINE double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
KILN_INLINE float rnorm3df(float x, float y, float z) { return 1.0f / norm3df(x, y, z); }
KILN_INLINE double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
KILN_INLINE float rnorm4df(float x, float y, float z, float w) { return 1.0f / norm4df(x, y, z, w); }
KILN_INLINE double rnorm4d(double x, double y, double z, double w) { return 1.0 / norm4d(x, y, z, w); }

// Inverses of the error functions: a guess, and two of Halley's steps, each of which triples the number of right digits.
// For |x| <= 1/2: the series of the inverse to x^5 is right to three digits.
KILN_INLINE double kiln_small_erfinv(double x) {
    double square = x * x, guess = x * (0.88622692545275801 + square * (0.23201366653465450 + square * 0.12755617530559792));
    for (int step = 0; step < 2; step++) {
        double error = erf(guess) - x;
        guess -= error / (1.12837916709551257 * exp(-guess * guess) + guess * error);
    }
    return guess;
}
// For 0 < y <= 1/2: Abramowitz and Stegun, 26.2.23, is right to three digits.
KILN_INLINE double kiln_small_erfcinv(double y) {
    double t = __builtin_sqrt(-2.0 * log(0.5 * y));
    double guess = M_SQRT1_2 * (t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
    for (int step = 0; step < 2; step++) {
        double error = erfc(guess) - y;
        guess += error / (1.12837916709551257 * exp(-guess * guess) - guess * error);
    }
    return guess;
}
KILN_INLINE double erfcinv(double y) {
    if (y > 0.5 && y < 1.5) return kiln_small_erfinv(1.0 - y);
    double tail = y > 1.0 ? 2.0 - y : y;
    double size = tail > 0.0 ? kiln_small_erfcinv(tail) : tail == 0.0 ? INFINITY : NAN;
    return y > 1.0 ? -size : size;
}
KILN_INLINE double erfinv(double x) {
    if (x > -0.5 && x < 0.5) return kiln_small_erfinv(x);
    return x < 0.0 ? -erfcinv(1.0 + x) : erfcinv(1.0 - x);
}
KILN_INLINE double normcdfinv(double p) { return -M_SQRT2 * erfcinv(2.0 * p); }
KILN_INLINE float erfinvf(float x) { return (float)erfinv((double)x); }
KILN_INLINE float erfcinvf(float y) { return (float)erfcinv((double)y); }
KILN_INLINE float normcdfinvf(float p) { return (float)normcdfinv((double)p); }

#endif
