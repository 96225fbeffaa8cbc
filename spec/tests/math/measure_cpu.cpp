// Measures the cpu device's functions of float (prelude/cpu/float_math.h): prints, for each, the largest error in units in
// the last place against the C library's double functions, over every STEPth bit pattern of a float. Loops over them are
// here too, for the test to look at the code that becomes of them.
#define KILN_CPU_FIBERS 0
#include "kiln_cpu.h"
#include <math.h>
#include <stdio.h>

static const double no_answer = 1e9;

static double error(float got, double right) {
    float nearest = (float)right;
    if (isnan(right)) return isnan(got) ? 0 : no_answer;
    if (isnan(got)) return no_answer;
    if (isinf(nearest) || isinf(got)) {
        // A result next to the largest number may round to infinity, or the other way round.
        bool near = fabs(isinf(got) ? right : got) >= 0x1.fffffcp127;
        return nearest == got ? 0 : near && signbit(got) == signbit(nearest) ? 1 : no_answer;
    }
    if (right == 0) return got == 0 && signbit(got) == signbit(nearest) ? 0 : no_answer;
    int exponent;
    frexp(right, &exponent);
    exponent -= 24;
    if (exponent < -149) exponent = -149;
    return fabs(got - right) / ldexp(1, exponent);
}

static double normal(double x) { return 0.5 * erfc(x * -0.70710678118654752440); }
static double inverse_root(double x) { return 1 / sqrt(x); }

#define FUNCTION(name, right)                                                                         \
    KILN_CPU_EXPORT void loop_##name(int n, const float* __restrict__ x, float* __restrict__ y) {     \
        for (int i = 0; i < n; i++) y[i] = name(x[i]);                                                \
    }                                                                                                 \
    static void measure_##name() {                                                                    \
        double worst = 0;                                                                             \
        float at = 0;                                                                                 \
        for (uint64_t bits = 0; bits < 1ull << 32; bits += STEP) {                                    \
            float x = __uint_as_float((uint32_t)bits);                                                \
            double here = error(name(x), right((double)x));                                           \
            if (here > worst) worst = here, at = x;                                                   \
        }                                                                                             \
        printf("%s float %.3f %a\n", #name, worst, at);                                               \
    }
FUNCTION(expf, exp)
FUNCTION(__expf, exp)
FUNCTION(exp2f, exp2)
FUNCTION(logf, log)
FUNCTION(tanhf, tanh)
FUNCTION(erff, erf)
FUNCTION(erfcf, erfc)
FUNCTION(normcdff, normal)
FUNCTION(rsqrtf, inverse_root)

int main() {
    measure_expf();
    measure___expf();
    measure_exp2f();
    measure_logf();
    measure_tanhf();
    measure_erff();
    measure_erfcf();
    measure_normcdff();
    measure_rsqrtf();
}
