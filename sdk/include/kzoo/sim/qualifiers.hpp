// CUDA's declaration qualifiers as macros for the host compiler.
#pragma once

// libstdc++ uses __noinline__ as an attribute here; include it before defining the macro.
#include <memory>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__

// A block's threads stay on one OS thread, which runs one block at a time. Thus one copy per OS
// thread is one copy per running block. Poisoned with 0xff bytes before each block.
//
// nvcc places a kernel's variables one after the other from a multiple of 1024 bytes on, each
// aligned as its type. Tiles whose sizes are multiples of 32 bytes are then 32-byte aligned.
#define __shared__ __attribute__((aligned(32))) static thread_local

#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
