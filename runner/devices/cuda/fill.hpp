#pragma once
// Fills and checks buffers on the GPU. Plain types only, because nvcc compiles the implementation.

#include "data/digest.hpp"
#include "data/matrix.hpp"

#include <cuda_runtime_api.h>

namespace kzoo::devices::cuda {

// All of these enqueue on the stream and return without waiting. Pointers are to device memory.
cudaError_t enqueue_fill(void* buffer, const data::matrix& x, cudaStream_t stream);
// Adds the changed words to *found. First indices are compared as unsigned, so that -1 is above all
// others.
cudaError_t enqueue_find_changes(const void* buffer, const data::matrix& x, data::changes* found,
                                 cudaStream_t stream);
// Adds to *found.
cudaError_t enqueue_survey(const void* buffer, const data::matrix& x, data::survey* found,
                           cudaStream_t stream);
// Adds the digest to *sum.
cudaError_t enqueue_digest(const void* buffer, const data::matrix& x, std::uint64_t* sum,
                           cudaStream_t stream);
// Negates in place the rows and columns that `to` negates and x.negated does not, or the reverse.
cudaError_t enqueue_negate(void* buffer, const data::matrix& x, const data::negation& to,
                           cudaStream_t stream);
// Holds the stream until the host stores `ticket` in *open, host memory that is mapped to the
// device; at most for about `most_ns`.
cudaError_t enqueue_gate(const unsigned* open, unsigned ticket, long long most_ns,
                         cudaStream_t stream);
// Runs one thread for `ns`, and stores the longest time in which it did not get to read the timer.
cudaError_t enqueue_watch(long long ns, long long* longest_ns, cudaStream_t stream);
// Adds to sums[row], for each row.
cudaError_t enqueue_sum_rows(const void* buffer, const data::matrix& x, std::uint64_t key,
                             data::row_sums* sums, cudaStream_t stream);

}  // namespace kzoo::devices::cuda
