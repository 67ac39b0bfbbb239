// What a kernel's own `#include <cuda_runtime.h>` finds where it is built for the simulator: the
// names of CUDA C++ that are simulated, and those of the runtime that declarations use. Nothing of
// the runtime can be called here.
#pragma once

#include <kzoo/cuda.hpp>

using cudaStream_t = void*;
using cudaEvent_t = void*;
enum cudaError_t { cudaSuccess = 0 };
