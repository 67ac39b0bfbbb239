// A kernel's own `#include <cuda_runtime.h>` in the simulator: simulated names of CUDA C++, and
// runtime types for declarations. Runtime functions cannot be called.
#pragma once

#include <kzoo/cuda.hpp>

using cudaStream_t = void*;
using cudaEvent_t = void*;
enum cudaError_t { cudaSuccess = 0 };
