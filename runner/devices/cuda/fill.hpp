#pragma once
// The generator on the GPU. Plain types only: nvcc compiles the other side.

#include "core/matrix_data.hpp"

#include <cuda_runtime_api.h>

namespace kzoo::devices::cuda {

// Both enqueue on the stream.
cudaError_t enqueue_fill(void* buffer, const data::matrix& x, cudaStream_t stream);
// Adds the number of changed elements to *count, in device memory.
cudaError_t enqueue_count_changed(const void* buffer, const data::matrix& x,
                                  unsigned long long* count, cudaStream_t stream);

}  // namespace kzoo::devices::cuda
