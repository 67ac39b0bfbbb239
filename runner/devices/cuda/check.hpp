#pragma once
// Throws CUDA errors with CUDA's own texts. Compiled by nvcc too, hence without fmt.

#include "devices/backend.hpp"

#include <cuda_runtime_api.h>
#include <string>

namespace kzoo::devices::cuda {

inline std::string describe(cudaError_t error) {
  return std::string(cudaGetErrorName(error)) + " (" + cudaGetErrorString(error) + ")";
}

inline void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clears a non-sticky error, so that it is reported once
  throw failure(std::string(doing) + ": " + describe(error));
}

}  // namespace kzoo::devices::cuda
