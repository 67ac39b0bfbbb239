#include "devices/cuda/fill.cuh"
#include "devices/cuda/fill.hpp"
#include "devices/cuda/timer.cuh"

namespace kzoo::devices::cuda {
namespace {

constexpr int kThreads = team::kThreads;
constexpr int kBlocks = 1024;  // grid-stride loops: enough to fill any GPU

// The 64-bit type that CUDA's atomics take.
using counter = unsigned long long;
static_assert(sizeof(counter) == sizeof(std::int64_t));
template <class T>
__device__ counter* as_counter(T* number) {
  return reinterpret_cast<counter*>(number);
}

template <class Fixed>
__global__ void fill_kernel(void* buffer, data::matrix x) {
  fill_words<Fixed>(buffer, x, team_of_block());
}

__global__ void fill_row_kernel(void* buffer, data::matrix x, std::int64_t row) {
  for (std::int64_t col = blockIdx.x * kThreads + threadIdx.x; col < x.cols;
       col += gridDim.x * kThreads)
    fill_word(buffer, x, data::index_of(x, row, col));
}

template <class Fixed>
__global__ void find_changes_kernel(const void* buffer, data::matrix any, data::changes* found) {
  const data::matrix x = Fixed::of(any);
  for_each_word(x, team_of_block(), [&](std::int64_t index, std::int64_t row) {
    if (word_at(buffer, x, index) == original(x, index, row)) return;
    const bool inside = row >= 0;
    atomicAdd(as_counter(inside ? &found->inside : &found->outside), counter{1});
    atomicMin(as_counter(inside ? &found->first_inside : &found->first_outside),
              static_cast<counter>(index));
  });
}

// Keeps the stream busy until the host sets *open, for at most about `most` nanoseconds.
__global__ void gate_kernel(const volatile unsigned* open, unsigned ticket, long long most) {
  const long long start = nanoseconds();
  while (*open != ticket && nanoseconds() - start < most) __nanosleep(100);
}

__global__ void watch_kernel(long long ns, long long* longest_ns) {
  const long long start = nanoseconds();
  long long longest = 0;
  for (long long last = start; last - start < ns;) {
    const long long now = nanoseconds();
    longest = max(longest, now - last);
    last = now;
  }
  *longest_ns = longest;
}

}  // namespace

cudaError_t enqueue_fill(void* buffer, const data::matrix& x, cudaStream_t stream) {
  with_fixed(x, [&]<class Fixed>(Fixed) {
    fill_kernel<Fixed><<<kBlocks, kThreads, 0, stream>>>(buffer, x);
  });
  return cudaGetLastError();
}

cudaError_t enqueue_fill_row(void* buffer, const data::matrix& x, std::int64_t row,
                             cudaStream_t stream) {
  constexpr int kBlocksOfRow = 16;
  fill_row_kernel<<<kBlocksOfRow, kThreads, 0, stream>>>(buffer, x, row);
  return cudaGetLastError();
}

cudaError_t enqueue_find_changes(const void* buffer, const data::matrix& x, data::changes* found,
                                 cudaStream_t stream) {
  with_fixed(x, [&]<class Fixed>(Fixed) {
    find_changes_kernel<Fixed><<<kBlocks, kThreads, 0, stream>>>(buffer, x, found);
  });
  return cudaGetLastError();
}

cudaError_t enqueue_gate(const unsigned* open, unsigned ticket, long long most_ns,
                         cudaStream_t stream) {
  gate_kernel<<<1, 1, 0, stream>>>(open, ticket, most_ns);
  return cudaGetLastError();
}

cudaError_t enqueue_watch(long long ns, long long* longest_ns, cudaStream_t stream) {
  watch_kernel<<<1, 1, 0, stream>>>(ns, longest_ns);
  return cudaGetLastError();
}

}  // namespace kzoo::devices::cuda
