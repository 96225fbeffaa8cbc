// The part of CUB that is for a block or a warp: reductions and scans.
#ifndef KILN_SHIM_CUB_H
#define KILN_SHIM_CUB_H

#include "cub/block/block_reduce.cuh"
#include "cub/block/block_scan.cuh"

#endif
