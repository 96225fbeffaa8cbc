// <cstdint> and <cstddef>: the prelude's integer types in namespace std too.
#ifndef KILN_SHIM_STD_INTEGERS_H
#define KILN_SHIM_STD_INTEGERS_H

#include "stdint.h"

namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; using ::intptr_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t;
using ::ptrdiff_t; using ::size_t;
}  // namespace std

#endif
