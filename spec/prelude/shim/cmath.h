// CUDA's mathematical functions in namespace std too, for every type that they take.
#ifndef KILN_SHIM_CMATH_H
#define KILN_SHIM_CMATH_H

namespace std {
using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2; using ::atanh;
using ::cbrt; using ::ceil; using ::copysign; using ::cos; using ::cosh; using ::erf; using ::erfc; using ::exp;
using ::exp2; using ::expm1; using ::fabs; using ::fdim; using ::floor; using ::fma; using ::fmax; using ::fmin;
using ::fmod; using ::hypot; using ::isfinite; using ::isinf; using ::isnan; using ::lgamma; using ::log; using ::log10;
using ::log1p; using ::log2; using ::nearbyint; using ::pow; using ::remainder; using ::rint; using ::round; using ::sin;
using ::sinh; using ::sqrt; using ::tan; using ::tanh; using ::tgamma; using ::trunc;
using ::acosf; using ::asinf; using ::atan2f; using ::atanf; using ::ceilf; using ::cosf; using ::coshf; using ::exp2f;
using ::expf; using ::expm1f; using ::fabsf; using ::floorf; using ::fmaf; using ::fmaxf; using ::fminf; using ::fmodf;
using ::log10f; using ::log1pf; using ::log2f; using ::logf; using ::powf; using ::rintf; using ::roundf; using ::sinf;
using ::sinhf; using ::sqrtf; using ::tanf; using ::tanhf; using ::truncf;
}  // namespace std

#endif
