#pragma once
// Judges results on the GPU: reference/product_check.hpp. nvcc compiles the implementation.

#include "reference/product_check.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace kzoo::devices::cuda {

// For the current device. Its device memory grows with problems and is never freed.
class product_judge {
 public:
  // Allocates what enqueue() and findings() need for the problem. Throws failure.
  void reserve(const reference::product_check& expected);
  // Enqueues the judgement on the stream; its first kernel reads the whole result. Throws failure.
  void enqueue(const void* output, const reference::product_check& expected, std::uint64_t key,
               cudaStream_t stream);
  // Waits for the stream. Throws failure.
  reference::product_findings findings(cudaStream_t stream);

  // Reads a buffer in one pass. Waits for the stream. Throws failure.
  data::reading read(const void* buffer, const data::matrix& x, cudaStream_t stream);

 private:
  struct scratch {
    reference::weighted_row *b = nullptr, *c = nullptr;  // per row of B, of C
    reference::element_sum* elements = nullptr;          // of the rows that are compared in full
    reference::product_findings* found = nullptr;
  };
  scratch of(const reference::product_check& expected) const;
  void grow(std::size_t bytes);

  reference::product_findings* found_ = nullptr;  // of the last enqueue()
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace kzoo::devices::cuda
