#pragma once
// CUDA errors as exceptions, with CUDA's own texts. nvcc compiles it too, so it does not include
// fmt.

#include "devices/backend.hpp"

#include <cuda_runtime_api.h>
#include <string>

namespace kzoo::devices::cuda {

inline std::string describe(cudaError_t error) {
  return std::string(cudaGetErrorName(error)) + " (" + cudaGetErrorString(error) + ")";
}

inline void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clears it unless sticky, so that it is reported once
  throw failure(std::string(doing) + ": " + describe(error));
}

}  // namespace kzoo::devices::cuda
