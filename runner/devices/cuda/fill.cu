#include "devices/cuda/fill.hpp"
#include "devices/cuda/fixed.cuh"
#include "devices/cuda/timer.cuh"
#include "devices/element_loops.hpp"

namespace kzoo::devices::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 1024;  // grid-stride loops: enough to fill any GPU

// The 64-bit type that CUDA's atomics take.
using counter = unsigned long long;
static_assert(sizeof(counter) == sizeof(std::int64_t));
template <class T>
__device__ counter* as_counter(T* number) {
  return reinterpret_cast<counter*>(number);
}

// // Calls body(index, row) for all words of a buffer, row -1 for those that are no element: those
// of the rows, padding included, by tiles of kThreads columns and kTileRows rows, so that an index
// costs no division.
constexpr int kTileRows = 16;
template <class Body>
__device__ void for_each_word(const data::matrix& x, const Body& body) {
  const std::int64_t across = (x.ld + kThreads - 1) / kThreads;
  const std::int64_t down = (x.rows + kTileRows - 1) / kTileRows;
  for (std::int64_t tile = blockIdx.x; tile < x.count * down * across; tile += gridDim.x) {
    const std::int64_t product = tile / across / down;
    const std::int64_t first = tile / across % down * kTileRows;  // row of the product
    const std::int64_t col = tile % across * kThreads + threadIdx.x;
    if (col >= x.ld) continue;
    const int rows = static_cast<int>(min(std::int64_t{kTileRows}, x.rows - first));
    const std::int64_t index = data::kRedzone + product * x.stride + first * x.ld + col;
    const std::int64_t row = product * x.rows + first;
    for (int r = 0; r < rows; ++r) body(index + r * x.ld, col < x.cols ? row + r : -1);
  }
  const std::int64_t thread = std::int64_t(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t gap = x.count == 1 ? 0 : x.stride - x.rows * x.ld;  // between two products
  for (std::int64_t i = thread; i < (x.count - 1) * gap; i += kBlocks * kThreads)
    body(data::kRedzone + i / gap * x.stride + x.rows * x.ld + i % gap, -1);
  if (thread >= data::kRedzone) return;
  body(thread, -1);
  body(data::word_count(x) - 1 - thread, -1);
}

__device__ data::word_bits original(const data::matrix& x, std::int64_t index, std::int64_t row) {
  return row < 0 || x.inside == data::content::poison
             ? data::poison_bits(x.type, data::hash(x.key, index))
             : data::element_in(x, row, index);
}

template <class Fixed>
__global__ void fill_kernel(void* buffer, data::matrix any) {
  const data::matrix x = Fixed::of(any);
  for_each_word(x, [&](std::int64_t index, std::int64_t row) {
    put_word(buffer, x, index, original(x, index, row));
  });
}

__global__ void fill_row_kernel(void* buffer, data::matrix x, std::int64_t row) {
  for (std::int64_t col = blockIdx.x * kThreads + threadIdx.x; col < x.cols;
       col += gridDim.x * kThreads)
    fill_word(buffer, x, data::index_of(x, row, col));
}

template <class Fixed>
__global__ void find_changes_kernel(const void* buffer, data::matrix any, data::changes* found) {
  const data::matrix x = Fixed::of(any);
  for_each_word(x, [&](std::int64_t index, std::int64_t row) {
    if (word_at(buffer, x, index) == original(x, index, row)) return;
    const bool inside = row >= 0;
    atomicAdd(as_counter(inside ? &found->inside : &found->outside), counter{1});
    atomicMin(as_counter(inside ? &found->first_inside : &found->first_outside),
              static_cast<counter>(index));
  });
}

// Keeps the stream busy until the host sets *open, but at most for about `most` nanoseconds.
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
