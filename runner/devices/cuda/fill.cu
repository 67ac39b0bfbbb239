#include "devices/cuda/fill.hpp"
#include "devices/element_loops.hpp"

namespace kzoo::devices::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 1024;  // grid-stride loops: enough to fill any GPU

__device__ std::int64_t first_index() { return std::int64_t(blockIdx.x) * kThreads + threadIdx.x; }

__global__ void fill_kernel(void* buffer, data::matrix x) {
  const std::int64_t count = data::word_count(x);
  for (std::int64_t i = first_index(); i < count; i += kBlocks * kThreads) fill_word(buffer, x, i);
}

__global__ void count_changed_kernel(const void* buffer, data::matrix x,
                                     unsigned long long* total) {
  const std::int64_t count = data::word_count(x);
  unsigned long long changed = 0;
  for (std::int64_t i = first_index(); i < count; i += kBlocks * kThreads) {
    changed += is_changed(buffer, x, i);
  }
  if (changed != 0) atomicAdd(total, changed);
}

}  // namespace

cudaError_t enqueue_fill(void* buffer, const data::matrix& x, cudaStream_t stream) {
  fill_kernel<<<kBlocks, kThreads, 0, stream>>>(buffer, x);
  return cudaGetLastError();
}

cudaError_t enqueue_count_changed(const void* buffer, const data::matrix& x,
                                  unsigned long long* count, cudaStream_t stream) {
  count_changed_kernel<<<kBlocks, kThreads, 0, stream>>>(buffer, x, count);
  return cudaGetLastError();
}

}  // namespace kzoo::devices::cuda
