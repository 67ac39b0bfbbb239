#pragma once
// Fills and checks buffers on the GPU. Plain types only, because nvcc compiles the implementation.

#include "data/digest.hpp"
#include "data/matrix.hpp"

#include <cuda_runtime_api.h>

namespace kzoo::devices::cuda {

// The functions enqueue on the stream and return without waiting. Pointers are to device memory.
cudaError_t enqueue_fill(void* buffer, const data::matrix& x, cudaStream_t stream);
// Fills the elements of one row.
cudaError_t enqueue_fill_row(void* buffer, const data::matrix& x, std::int64_t row,
                             cudaStream_t stream);
// Adds the changed words to *found. First indices compare as unsigned, so that -1 is the largest.
cudaError_t enqueue_find_changes(const void* buffer, const data::matrix& x, data::changes* found,
                                 cudaStream_t stream);
// Holds the stream until the host stores `ticket` in *open (mapped), or for about `most_ns`.
cudaError_t enqueue_gate(const unsigned* open, unsigned ticket, long long most_ns,
                         cudaStream_t stream);
// Runs one thread for `ns`; stores the longest time between two of its timer reads.
cudaError_t enqueue_watch(long long ns, long long* longest_ns, cudaStream_t stream);

}  // namespace kzoo::devices::cuda
