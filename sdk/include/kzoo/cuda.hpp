// The names of CUDA C++, for a kernel that is built twice: under nvcc from CUDA's own headers,
// under the host compiler from the simulator. Kernels include this and <kzoo/launch.hpp>. Host code
// of a plugin for cuda, a .cpp that calls a library, gets CUDA's own headers as well.
//
// On the simulator:
//  - `extern __shared__` does not exist: use kzoo::dynamic_shared<T>() (launch.hpp);
//  - write `__shared__ __align__(16) float s[64]` or `alignas(16) __shared__ float s[64]`; a
//    `__shared__ alignas(16)` is not C++;
//  - a pointer to a `__shared__` variable is valid in the running block only, as on the GPU;
//  - the built-in variables threadIdx, blockIdx, blockDim, gridDim are macros: use them in device
//    code only, and give nothing else those names.
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
