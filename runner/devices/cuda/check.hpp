#pragma once
// CUDA's answers as exceptions, in CUDA's own words. nvcc reads it too, so there is no fmt in it.

#include "devices/backend.hpp"

#include <cuda_runtime_api.h>
#include <string>

namespace kzoo::devices::cuda {

inline std::string describe(cudaError_t error) {
  return std::string(cudaGetErrorName(error)) + " (" + cudaGetErrorString(error) + ")";
}

inline void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // an error that is not sticky must not be seen twice
  throw failure(std::string(doing) + ": " + describe(error));
}

}  // namespace kzoo::devices::cuda
