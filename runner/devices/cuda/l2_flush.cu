#include "devices/cuda/check.hpp"
#include "devices/cuda/l2_flush.hpp"

namespace kzoo::devices::cuda {
namespace {

constexpr int kFlushThreads = 512, kFlushBlocks = 4;  // for each multiprocessor

// The sum is one that zeros do not have: nothing is written.
__global__ void flush_kernel(const uint4* words, std::size_t count, unsigned* never) {
  unsigned sum = 0;
  const std::size_t step = std::size_t(gridDim.x) * kFlushThreads;
  for (std::size_t i = std::size_t(blockIdx.x) * kFlushThreads + threadIdx.x; i < count;
       i += step) {
    const uint4 word = __ldcg(words + i);
    sum |= word.x | word.y | word.z | word.w;
  }
  if (sum != 0) *never = sum;
}

}  // namespace

l2_flush::l2_flush(int ordinal) {
  int l2_bytes = 0, multiprocessors = 0;
  check(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, ordinal), "L2 size");
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, ordinal),
        "multiprocessors");
  bytes_ = 2 * static_cast<std::size_t>(l2_bytes);
  blocks_ = kFlushBlocks * multiprocessors;
  check(cudaMalloc(&memory_, bytes_), "cudaMalloc for the L2 flush");
  check(cudaMemset(memory_, 0, bytes_), "cudaMemset for the L2 flush");
}

void l2_flush::enqueue(cudaStream_t stream) const {
  flush_kernel<<<blocks_, kFlushThreads, 0, stream>>>(
      static_cast<const uint4*>(memory_), bytes_ / sizeof(uint4), static_cast<unsigned*>(memory_));
  check(cudaGetLastError(), "flushing the L2");
}

}  // namespace kzoo::devices::cuda
