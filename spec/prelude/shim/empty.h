// Stands in for a header of CUDA or the C library: kiln_cpu.h, which comes first, declares what kernels
// use of it.
#pragma once
