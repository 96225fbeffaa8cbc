// hipCUB has the collectives of CUB in a namespace of its own.
#pragma once
#include "shim/hip/runtime.h"
#undef __ballot
#undef __any
#undef __all
#include <cub/cub.cuh>
#include "shim/hip/votes.h"
namespace hipcub = cub;
