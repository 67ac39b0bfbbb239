#pragma once
// Fills and checks buffers on the GPU. Plain types only, because nvcc compiles the implementation.

#include "data/digest.hpp"
#include "data/matrix.hpp"

#include <cuda_runtime_api.h>

namespace kzoo::devices::cuda {

// All of these enqueue on the stream and return without waiting. Pointers are to device memory.
cudaError_t enqueue_fill(void* buffer, const data::matrix& x, cudaStream_t stream);
// Of one row, the elements alone.
cudaError_t enqueue_fill_row(void* buffer, const data::matrix& x, std::int64_t row,
                             cudaStream_t stream);
// Adds the changed words to *found. First indices are compared as unsigned, so that -1 is above all
// others.
cudaError_t enqueue_find_changes(const void* buffer, const data::matrix& x, data::changes* found,
                                 cudaStream_t stream);
// Holds the stream until the host stores `ticket` in *open, host memory that is mapped to the
// device; at most for about `most_ns`.
cudaError_t enqueue_gate(const unsigned* open, unsigned ticket, long long most_ns,
                         cudaStream_t stream);
// Runs one thread for `ns`, and stores the longest time in which it did not get to read the timer.
cudaError_t enqueue_watch(long long ns, long long* longest_ns, cudaStream_t stream);

}  // namespace kzoo::devices::cuda
