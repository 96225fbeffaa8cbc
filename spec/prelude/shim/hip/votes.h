// HIP's votes without a mask. Headers of NVIDIA use these names for other things, so this header is included again after
// each of them.
#define __ballot(...) ((unsigned long long)__ballot_sync(KILN_HIP_LANES, __VA_ARGS__))
#define __any(...) __any_sync(KILN_HIP_LANES, __VA_ARGS__)
#define __all(...) __all_sync(KILN_HIP_LANES, __VA_ARGS__)
