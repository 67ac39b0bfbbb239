#pragma once
// CUDA's answers as exceptions, in CUDA's own words.

#include "devices/backend.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

namespace kzoo::devices::cuda {

inline std::string describe(cudaError_t error) {
  return fmt::format("{} ({})", cudaGetErrorName(error), cudaGetErrorString(error));
}

inline void check(cudaError_t error, const char* doing) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // an error that is not sticky must not be seen twice
  throw failure(fmt::format("{}: {}", doing, describe(error)));
}

}  // namespace kzoo::devices::cuda
