// The functions of <string.h> that kernels use.
#ifndef KILN_SHIM_STRING_H
#define KILN_SHIM_STRING_H

KILN_INLINE void* memcpy(void* to, const void* from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
KILN_INLINE void* memset(void* to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }

#endif
