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

// The 64-bit type that CUDA's atomics take.
using counter = unsigned long long;
static_assert(sizeof(counter) == sizeof(std::int64_t));
template <class T>
__device__ counter* as_counter(T* number) {
  return reinterpret_cast<counter*>(number);
}

__device__ void add_warp_sum(counter* total, counter part) {
  constexpr unsigned kAll = 0xffffffffu;
  for (int lanes = warpSize / 2; lanes > 0; lanes /= 2) part += __shfl_down_sync(kAll, part, lanes);
  if (threadIdx.x % warpSize == 0 && part != 0) atomicAdd(total, part);
}

__global__ void find_changes_kernel(const void* buffer, data::matrix x, data::changes* found) {
  const std::int64_t count = data::word_count(x);
  for (std::int64_t i = first_index(); i < count; i += kBlocks * kThreads) {
    if (!is_changed(buffer, x, i)) continue;
    const bool inside = data::is_inside(x, i);
    atomicAdd(as_counter(inside ? &found->inside : &found->outside), counter{1});
    atomicMin(as_counter(inside ? &found->first_inside : &found->first_outside),
              static_cast<counter>(i));
  }
}

__global__ void survey_kernel(const void* buffer, data::matrix x, data::survey* found) {
  const std::int64_t count = data::word_count(x);
  counter outside = 0, unwritten = 0, not_finite = 0;
  for (std::int64_t i = first_index(); i < count; i += kBlocks * kThreads) {
    const condition c = condition_of(buffer, x, i);
    outside += c == condition::outside;
    unwritten += c == condition::unwritten;
    not_finite += c == condition::not_finite;
  }
  add_warp_sum(as_counter(&found->outside), outside);
  add_warp_sum(as_counter(&found->unwritten), unwritten);
  add_warp_sum(as_counter(&found->not_finite), not_finite);
}

__global__ void digest_kernel(const void* buffer, data::matrix x, std::uint64_t* sum) {
  const std::int64_t count = data::word_count(x);
  counter part = 0;
  for (std::int64_t i = first_index(); i < count; i += kBlocks * kThreads)
    part += data::digest_term(word_at(buffer, x, i), i);
  add_warp_sum(as_counter(sum), part);
}

__global__ void fold_rows_kernel(const void* buffer, data::matrix x, std::uint64_t key,
                                 std::uint64_t* sums) {
  for (std::int64_t row = blockIdx.x; row < x.rows; row += gridDim.x) {
    counter part = 0;
    for (std::int64_t col = threadIdx.x; col < x.cols; col += kThreads)
      part += fold_term(buffer, x, key, row, col);
    add_warp_sum(as_counter(sums + row), part);
  }
}

}  // namespace

cudaError_t enqueue_fill(void* buffer, const data::matrix& x, cudaStream_t stream) {
  fill_kernel<<<kBlocks, kThreads, 0, stream>>>(buffer, x);
  return cudaGetLastError();
}

cudaError_t enqueue_find_changes(const void* buffer, const data::matrix& x, data::changes* found,
                                 cudaStream_t stream) {
  find_changes_kernel<<<kBlocks, kThreads, 0, stream>>>(buffer, x, found);
  return cudaGetLastError();
}

cudaError_t enqueue_survey(const void* buffer, const data::matrix& x, data::survey* found,
                           cudaStream_t stream) {
  survey_kernel<<<kBlocks, kThreads, 0, stream>>>(buffer, x, found);
  return cudaGetLastError();
}

cudaError_t enqueue_digest(const void* buffer, const data::matrix& x, std::uint64_t* sum,
                           cudaStream_t stream) {
  digest_kernel<<<kBlocks, kThreads, 0, stream>>>(buffer, x, sum);
  return cudaGetLastError();
}

cudaError_t enqueue_fold_rows(const void* buffer, const data::matrix& x, std::uint64_t key,
                              std::uint64_t* sums, cudaStream_t stream) {
  fold_rows_kernel<<<kBlocks, kThreads, 0, stream>>>(buffer, x, key, sums);
  return cudaGetLastError();
}

}  // namespace kzoo::devices::cuda
