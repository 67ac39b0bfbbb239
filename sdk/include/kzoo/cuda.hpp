// CUDA C++ for kernels that are built twice: by nvcc with CUDA's headers, and by the host compiler
// with the simulator. Kernels include this header and <kzoo/launch.hpp>. Host code of a cuda plugin
// (a .cpp that calls a library) gets CUDA's headers as well.
//
// On the simulator:
//  - `extern __shared__` does not exist: use kzoo::dynamic_shared<T>() (launch.hpp);
//  - write `__shared__ __align__(16) float s[64]` or `alignas(16) __shared__ float s[64]`; a
//    `__shared__ alignas(16)` is not C++;
//  - a pointer to a `__shared__` variable is only valid in the running block, as on the GPU;
//  - the built-in variables threadIdx, blockIdx, blockDim, gridDim are macros: use them only in
//    device code, and use their names for nothing else.
#pragma once

#include <kzoo/abi.h>

#if defined(__CUDACC__) || (defined(KZOO_TARGET_DEVICE) && KZOO_TARGET_DEVICE == KZOO_CUDA)
#define KZOO_REAL_CUDA 1  // not the simulator

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#else

#include <kzoo/sim/atomic.hpp>
#include <kzoo/sim/device.hpp>
#include <kzoo/sim/fp8.hpp>
#include <kzoo/sim/half.hpp>
#include <kzoo/sim/intrinsics.hpp>
#include <kzoo/sim/vector_types.hpp>
#include <kzoo/sim/warp.hpp>

#include <kzoo/sim/qualifiers.hpp>  // last: its macros must not reach the standard headers

#endif
