#include "devices/cuda/fill.hpp"
#include "devices/cuda/timer.cuh"
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

template <class T>
__device__ void add_warp_sum(T* total, T part) {
  constexpr unsigned kAll = 0xffffffffu;
  for (int lanes = warpSize / 2; lanes > 0; lanes /= 2) part += __shfl_down_sync(kAll, part, lanes);
  if (threadIdx.x % warpSize == 0 && part != T{0}) atomicAdd(total, part);
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

// Calls body(index, row, col) for the words of each product's matrix, padding included, redzones
// and what is between two products not, by tiles of kThreads columns. Before each tile all threads
// call begin_tile(product, first row of all, rows, col).
constexpr int kTileRows = 64;
template <class BeginTile, class Body>
__device__ void for_each_tile(const data::matrix& x, const BeginTile& begin_tile,
                              const Body& body) {
  const std::int64_t across = (x.ld + kThreads - 1) / kThreads;
  const std::int64_t down = (x.rows + kTileRows - 1) / kTileRows;
  for (std::int64_t tile = blockIdx.x; tile < x.count * down * across; tile += gridDim.x) {
    const std::int64_t product = tile / across / down;
    const std::int64_t first = tile / across % down * kTileRows;  // row of the product
    const std::int64_t col = tile % across * kThreads + threadIdx.x;
    const int rows = static_cast<int>(min(std::int64_t{kTileRows}, x.rows - first));
    begin_tile(product, product * x.rows + first, rows, col);
    if (col >= x.ld) continue;
    const std::int64_t index = data::kRedzone + product * x.stride + first * x.ld + col;
    for (int r = 0; r < rows; ++r) body(index + r * x.ld, r, col);
  }
}

// For each row of a tile whether it is negated, and the same for this thread's column.
struct tile_signs {
  bool* rows;  // kTileRows, in shared memory
  bool column = false;

  // `negates_row` and `negates_column`: functions of an index.
  template <class NegatesRow, class NegatesColumn>
  __device__ void begin(std::int64_t first, int count, std::int64_t col, std::int64_t cols,
                        const NegatesRow& negates_row, const NegatesColumn& negates_column) {
    __syncthreads();  // the tile before is done
    if (threadIdx.x < count) rows[threadIdx.x] = negates_row(first + threadIdx.x);
    column = col < cols && negates_column(col);
    __syncthreads();
  }
};

__global__ void digest_kernel(const void* buffer, data::matrix x, std::uint64_t* sum) {
  __shared__ bool negated_rows[kTileRows];
  tile_signs signs{negated_rows};
  counter part = 0;
  for_each_tile(
      x,
      [&](std::int64_t product, std::int64_t first, int rows, std::int64_t col) {
        signs.begin(
            first, rows, col, x.cols, [&](std::int64_t i) { return data::is_row_negated(x, i); },
            [&](std::int64_t i) { return data::is_column_negated(x, product, i); });
      },
      [&](std::int64_t index, int row, std::int64_t col) {
        const data::word_bits bits = word_at(buffer, x, index);
        part += col < x.cols ? data::digest_term(x, index, bits, signs.rows[row] != signs.column)
                             : data::digest_term(bits, index);
      });
  const std::int64_t gap = x.count == 1 ? 0 : x.stride - x.rows * x.ld;  // between two products
  for (std::int64_t i = first_index(); i < (x.count - 1) * gap; i += kBlocks * kThreads) {
    const std::int64_t index = data::kRedzone + i / gap * x.stride + x.rows * x.ld + i % gap;
    part += data::digest_term(word_at(buffer, x, index), index);
  }
  const std::int64_t end = data::word_count(x);
  for (std::int64_t i = first_index(); i < data::kRedzone; i += kBlocks * kThreads) {
    for (const std::int64_t index : {i, end - 1 - i})
      part += data::digest_term(word_at(buffer, x, index), index);
  }
  add_warp_sum(as_counter(sum), part);
}

__global__ void negate_kernel(void* buffer, data::matrix x, data::matrix to) {
  __shared__ bool negated_rows[kTileRows];
  tile_signs signs{negated_rows};
  for_each_tile(
      x,
      [&](std::int64_t product, std::int64_t first, int rows, std::int64_t col) {
        signs.begin(
            first, rows, col, x.cols,
            [&](std::int64_t i) {
              return data::is_row_negated(x, i) != data::is_row_negated(to, i);
            },
            [&](std::int64_t i) {
              return data::is_column_negated(x, product, i) !=
                     data::is_column_negated(to, product, i);
            });
      },
      [&](std::int64_t index, int row, std::int64_t col) {
        if (col < x.cols && signs.rows[row] != signs.column) negate_word(buffer, x, index);
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

__global__ void sum_rows_kernel(const void* buffer, data::matrix x, std::uint64_t key,
                                data::row_sums* sums) {
  for (std::int64_t row = blockIdx.x; row < data::all_rows(x); row += gridDim.x) {
    data::row_sums part;
    for (std::int64_t col = threadIdx.x; col < x.cols; col += kThreads)
      add_to_row(part, buffer, x, key, row, col);
    add_warp_sum(as_counter(&sums[row].exact), static_cast<counter>(part.exact));
    add_warp_sum(&sums[row].rounded, part.rounded);
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

cudaError_t enqueue_negate(void* buffer, const data::matrix& x, const data::negation& to,
                           cudaStream_t stream) {
  negate_kernel<<<kBlocks, kThreads, 0, stream>>>(buffer, x, with(x, to));
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

cudaError_t enqueue_sum_rows(const void* buffer, const data::matrix& x, std::uint64_t key,
                             data::row_sums* sums, cudaStream_t stream) {
  sum_rows_kernel<<<kBlocks, kThreads, 0, stream>>>(buffer, x, key, sums);
  return cudaGetLastError();
}

}  // namespace kzoo::devices::cuda
