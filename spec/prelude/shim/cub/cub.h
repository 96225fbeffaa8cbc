// The part of CUB that is for a block or a warp.
#ifndef KILN_SHIM_CUB_H
#define KILN_SHIM_CUB_H

#include "cub/block/block_discontinuity.cuh"
#include "cub/block/block_exchange.cuh"
#include "cub/block/block_load.cuh"
#include "cub/block/block_radix_sort.cuh"
#include "cub/block/block_reduce.cuh"
#include "cub/block/block_scan.cuh"

#endif
