#include "devices/cuda/fill.cuh"
#include "devices/cuda/kernels.hpp"
#include "devices/cuda/runtime.hpp"
#include "devices/element_loops.hpp"

namespace kzoo::devices::cuda {
namespace {

using reference::element_sum;
using reference::product_check;
using reference::product_findings;
using reference::weighted_row;
using reference::weighted_sum;

constexpr int kJudgeThreads = 256;
constexpr int kMostJudgeBlocks = 2048;
constexpr int kRowsAtOnce = 4;  // per thread; they share a weight, or a row of B
constexpr int kTermsOfBlock = 128;

// The sum over the blockDim.x threads of a row (a warp or the whole block), in thread 0.
template <class T>
__device__ T row_sum(T part) {
  part = warp_sum(part);
  if (blockDim.x == kWarp) return part;
  __shared__ T of_warps[kJudgeThreads / kWarp];
  __syncthreads();  // the previous sum has been read
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = part;
  __syncthreads();
  return threadIdx.x < kWarp
             ? warp_sum(threadIdx.x < kJudgeThreads / kWarp ? of_warps[threadIdx.x] : T{0})
             : T{0};
}

__device__ weighted_row total(const product_check& check, const weighted_sum& part) {
  if (check.integers) return {0, 0, row_sum(static_cast<unsigned long long>(part.whole))};
  const double value = row_sum(part.value), squares = row_sum(part.squares);
  return {value, sqrt(squares), 0};
}
__device__ weighted_row total(const product_check& check, const weighted_row& part) {
  if (check.integers) return {0, 0, row_sum(static_cast<unsigned long long>(part.whole))};
  const double value = row_sum(part.value), norm = row_sum(part.norm);
  return {value, norm, 0};
}

// Visits rows, `at_once` per thread; all threads of a block make equally many turns.
template <class Body>
__device__ void for_each_row(std::int64_t rows, int at_once, const Body& body) {
  const std::int64_t of_block = std::int64_t(blockDim.y) * at_once;
  for (std::int64_t first = blockIdx.x * of_block; first < rows; first += gridDim.x * of_block)
    body(first + threadIdx.y * at_once);
}

// Reads the whole buffer, and adds up its rows if `sums` is given.
template <class Fixed>
__global__ void read_kernel(const void* buffer, data::matrix any, std::uint64_t key, bool integers,
                            weighted_row* sums, data::reading* all) {
  const data::matrix x = Fixed::of(any);
  data::reading part;
  for_each_row(data::all_rows(x), 1, [&](std::int64_t row) {
    weighted_sum sum;
    if (row < data::all_rows(x)) {
      const std::int64_t first = data::index_of(x, row, 0);
      const std::int64_t words = data::row_end(x, row) - first;
      for (std::int64_t col = threadIdx.x; col < words; col += blockDim.x) {
        read_word(part, buffer, x, first + col, col < x.cols);
        if (sums != nullptr && col < x.cols)
          reference::add(sum, integers, data::decode(x.type, word_at(buffer, x, first + col)),
                         reference::weight(key, col));
      }
    }
    if (sums == nullptr) return;
    const unsigned long long whole = row_sum(static_cast<unsigned long long>(sum.whole));
    const double value = row_sum(sum.value), squares = row_sum(sum.squares);
    if (threadIdx.x == 0 && row < data::all_rows(x)) sums[row] = {value, sqrt(squares), whole};
  });
  const std::int64_t thread =
      std::int64_t(blockIdx.x) * kJudgeThreads + threadIdx.y * blockDim.x + threadIdx.x;
  for (std::int64_t i = thread; i < data::kRedzone; i += std::int64_t(gridDim.x) * kJudgeThreads)
    for (const std::int64_t index : {i, data::word_count(x) - 1 - i})
      read_word(part, buffer, x, index, false);
  const auto add_to = [](auto* sum, unsigned long long mine) {
    mine = warp_sum(mine);
    const unsigned lane = (threadIdx.y * blockDim.x + threadIdx.x) % kWarp;
    if (lane == 0 && mine != 0) atomicAdd(reinterpret_cast<unsigned long long*>(sum), mine);
  };
  add_to(&all->digest, part.digest);
  add_to(&all->survey.outside, static_cast<unsigned long long>(part.survey.outside));
  add_to(&all->survey.unwritten, static_cast<unsigned long long>(part.survey.unwritten));
  add_to(&all->survey.not_finite, static_cast<unsigned long long>(part.survey.not_finite));
}

// B w, for all matrices B.
template <class Fixed>
__global__ void weigh_b_kernel(const __grid_constant__ product_check check, std::uint64_t key,
                               weighted_row* sums) {
  const data::scaled_matrix x = Fixed::of(check.of.b);
  const std::int64_t rows = x.count * check.k;
  for_each_row(rows, kRowsAtOnce, [&](std::int64_t first) {
    weighted_sum part[kRowsAtOnce];
    for (std::int64_t col = threadIdx.x; col < check.n; col += blockDim.x) {
      const std::int64_t factor = reference::weight(key, col);
#pragma unroll
      for (int r = 0; r < kRowsAtOnce; ++r) {
        const std::int64_t row = first + r;
        if (row >= rows) break;
        const double b = data::element_at(x, row / check.k, row % check.k, col);
        reference::add(part[r], check.integers, b, factor);
      }
    }
    for (int r = 0; r < kRowsAtOnce; ++r) {
      const weighted_row sum = total(check, part[r]);
      if (threadIdx.x == 0 && first + r < rows) sums[first + r] = sum;
    }
  });
}

__device__ void note_wrong(product_findings* found, std::int64_t& count, std::int64_t row) {
  atomicAdd(reinterpret_cast<unsigned long long*>(&count), 1ull);
  found->row = row;  // with several, any of them
}

// Compares A (B w) with C w.
template <class Fixed>
__global__ void compare_rows_kernel(const __grid_constant__ product_check check, std::uint64_t key,
                                    const weighted_row* b, const weighted_row* c,
                                    product_findings* found) {
  const data::scaled_matrix x = Fixed::of(check.of.a);
  const std::int64_t rows = check.batch * check.m;
  for_each_row(rows, kRowsAtOnce, [&](std::int64_t first) {
    weighted_row part[kRowsAtOnce];
    std::int64_t first_of_b[kRowsAtOnce];  // index of its B's first sum
    for (int r = 0; r < kRowsAtOnce; ++r)
      first_of_b[r] = first + r < rows ? b_of_row(check.of, first + r) * check.k : 0;
    for (std::int64_t k = threadIdx.x; k < check.k; k += blockDim.x) {
#pragma unroll
      for (int r = 0; r < kRowsAtOnce; ++r) {
        const std::int64_t row = first + r, product = row / check.m;
        if (row >= rows) break;
        const double a =
            data::element_at(x, x.count == 1 ? 0 : product, row - product * check.m, k);
        reference::add_product(part[r], check, a, b[first_of_b[r] + k]);
      }
    }
    for (int r = 0; r < kRowsAtOnce; ++r) {
      const std::int64_t row = first + r;
      weighted_sum start;
      if (check.by.beta != 0.0 && row < rows)
        for (std::int64_t col = threadIdx.x; col < check.n; col += blockDim.x)
          reference::add(start, check.integers, reference::start_of(check, row, col),
                         reference::weight(key, col));
      const weighted_row products = total(check, part[r]), c0 = total(check, start);
      if (threadIdx.x == 0 && row < rows && !reference::is_row_right(check, products, c0, c[row]))
        note_wrong(found, found->wrong_rows, row);
    }
  });
}

// Adds some terms along K of the rows that are compared in full, one column per thread.
template <class FixedA, class FixedB>
__global__ void add_products_kernel(const __grid_constant__ product_check check,
                                    reference::whole_rows rows, element_sum* sums) {
  using reference::kWholeRows;
  const data::scaled_matrix a = FixedA::of(check.of.a), b = FixedB::of(check.of.b);
  __shared__ double of_a[kTermsOfBlock][kWholeRows];
  const std::int64_t number_of_a = reference::a_of_row(check, rows[0]);
  const std::int64_t number_of_b = b_of_row(check.of, rows[0]);
  const std::int64_t first = std::int64_t(blockIdx.y) * kTermsOfBlock;
  const int terms = static_cast<int>(min(std::int64_t{kTermsOfBlock}, check.k - first));
  for (int i = threadIdx.x; i < terms * kWholeRows; i += kJudgeThreads)
    of_a[i / kWholeRows][i % kWholeRows] =
        data::element_at(a, number_of_a, rows[i % kWholeRows] % check.m, first + i / kWholeRows);
  __syncthreads();
  const std::int64_t col = std::int64_t(blockIdx.x) * kJudgeThreads + threadIdx.x;
  if (col >= check.n) return;
  element_sum part[kWholeRows];
  for (int k = 0; k < terms; ++k) {
    const double x = data::element_at(b, number_of_b, first + k, col);
#pragma unroll
    for (int r = 0; r < kWholeRows; ++r) reference::add_product(part[r], check, of_a[k][r], x);
  }
  for (int r = 0; r < kWholeRows; ++r) {
    element_sum& sum = sums[r * check.n + col];
    if (check.integers) {
      atomicAdd(reinterpret_cast<unsigned long long*>(&sum.whole),
                static_cast<unsigned long long>(part[r].whole));
    } else {
      atomicAdd(&sum.value, part[r].value);
      atomicAdd(&sum.magnitude, part[r].magnitude);
    }
  }
}

__device__ void compare_element(const product_check& check, const void* output,
                                const element_sum& products, std::int64_t row, std::int64_t col,
                                product_findings* found) {
  const data::matrix& c = check.of.c;
  const double got = data::decode(c.type, word_at(output, c, data::index_of(c, row, col)));
  const double c0 = reference::start_of(check, row, col);
  if (!reference::is_element_right(check, products, c0, got, row, col))
    note_wrong(found, found->wrong_elements, row);
}

__global__ void compare_elements_kernel(const __grid_constant__ product_check check,
                                        reference::whole_rows rows, const void* output,
                                        const element_sum* sums, product_findings* found) {
  const std::int64_t col = std::int64_t(blockIdx.x) * kJudgeThreads + threadIdx.x;
  if (col >= check.n) return;
  compare_element(check, output, sums[blockIdx.y * check.n + col], rows[blockIdx.y], col, found);
}

// Compares one element of each part of C, one warp per element.
__global__ void compare_drawn_kernel(const __grid_constant__ product_check check, std::uint64_t key,
                                     const void* output, product_findings* found) {
  const std::int64_t count = reference::drawn_elements(check);
  const std::int64_t warps = std::int64_t(gridDim.x) * blockDim.y;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.y + threadIdx.y; i < count;
       i += warps) {
    const data::coordinates at = reference::draw_element(check, key, i);
    element_sum sum = reference::sum_products(check, at, threadIdx.x, kWarp);
    sum.value = warp_sum(sum.value);
    sum.magnitude = warp_sum(sum.magnitude);
    if (threadIdx.x == 0) compare_element(check, output, sum, at.row, at.col, found);
  }
}

// A warp per short row, else a block.
dim3 threads_for(std::int64_t length) {
  constexpr std::int64_t kLong = 1024;
  return length < kLong ? dim3(kWarp, kJudgeThreads / kWarp) : dim3(kJudgeThreads, 1);
}
unsigned blocks_for(std::int64_t rows, const dim3& threads, int at_once) {
  const std::int64_t of_block = std::int64_t(threads.y) * at_once;
  return static_cast<unsigned>(
      std::min<std::int64_t>((rows + of_block - 1) / of_block, kMostJudgeBlocks));
}
unsigned ceil_div(std::int64_t count, int by) {
  return static_cast<unsigned>((count + by - 1) / by);
}

// Judges all rows by their weighted sums, which need B's.
void enqueue_rows(const product_check& expected, std::uint64_t key, weighted_row* b,
                  const weighted_row* c, product_findings* found, cudaStream_t stream) {
  const operands& of = expected.of;
  const dim3 threads_b = threads_for(expected.n), threads_a = threads_for(expected.k);
  with_fixed_operand(of.b, [&]<class Fixed>(Fixed) {
    const unsigned blocks = blocks_for(of.b.count * expected.k, threads_b, kRowsAtOnce);
    weigh_b_kernel<Fixed><<<blocks, threads_b, 0, stream>>>(expected, key, b);
  });
  with_fixed_operand(of.a, [&]<class Fixed>(Fixed) {
    const unsigned blocks = blocks_for(expected.batch * expected.m, threads_a, kRowsAtOnce);
    compare_rows_kernel<Fixed><<<blocks, threads_a, 0, stream>>>(expected, key, b, c, found);
  });
}

void enqueue_drawn(const product_check& expected, std::uint64_t key, const void* output,
                   product_findings* found, cudaStream_t stream) {
  const dim3 threads(kWarp, kJudgeThreads / kWarp);
  const unsigned blocks = blocks_for(reference::drawn_elements(expected), threads, 1);
  compare_drawn_kernel<<<blocks, threads, 0, stream>>>(expected, key, output, found);
}

void enqueue_read(const void* buffer, const data::matrix& x, std::uint64_t key, bool integers,
                  weighted_row* sums, data::reading* to, cudaStream_t stream) {
  const dim3 threads = threads_for(x.ld);
  const unsigned blocks = blocks_for(data::all_rows(x), threads, 1);
  with_fixed(x, [&]<class Fixed>(Fixed) {
    read_kernel<Fixed><<<blocks, threads, 0, stream>>>(buffer, x, key, integers, sums, to);
  });
  check(cudaGetLastError(), "reading a result");
}

}  // namespace

// Memory holds the sums of B, of C, of the elements, and the findings, in this order.
product_judge::scratch product_judge::of(const product_check& expected) const {
  scratch s;
  s.b = reinterpret_cast<weighted_row*>(memory_);
  s.c = s.b + expected.of.b.count * expected.k;
  s.elements = reinterpret_cast<element_sum*>(s.c + expected.batch * expected.m);
  s.found = reinterpret_cast<product_findings*>(s.elements + reference::kWholeRows * expected.n);
  return s;
}

void product_judge::reserve(const product_check& expected) {
  grow(static_cast<std::size_t>(reinterpret_cast<std::byte*>(of(expected).found + 1) - memory_));
}

void product_judge::grow(std::size_t bytes) {
  if (bytes <= bytes_) return;
  if (memory_ != nullptr) check(cudaFree(memory_), "cudaFree");
  memory_ = nullptr;
  bytes_ = 0;
  check(cudaMalloc(reinterpret_cast<void**>(&memory_), bytes), "cudaMalloc for a judgement");
  bytes_ = bytes;
}

void product_judge::enqueue(const void* output, const product_check& expected, std::uint64_t key,
                            cudaStream_t stream) {
  const scratch s = of(expected);
  const auto ends = reinterpret_cast<std::byte*>(s.found + 1);
  const auto begins = reinterpret_cast<std::byte*>(s.elements);
  check(cudaMemsetAsync(begins, 0, static_cast<std::size_t>(ends - begins), stream), "cudaMemset");
  // Reads C first, as soon as the kernel's stream has done its work.
  enqueue_read(output, expected.of.c, key, expected.integers, s.c, &s.found->c, stream);
  if (expected.after.count == 0)
    enqueue_rows(expected, key, s.b, s.c, s.found, stream);
  else
    enqueue_drawn(expected, key, output, s.found, stream);
  const reference::whole_rows rows = reference::draw_rows(expected, key);
  const unsigned across = ceil_div(expected.n, kJudgeThreads);
  const dim3 grid(across, ceil_div(expected.k, kTermsOfBlock));
  const auto add_products = [&]<class Fixed>(Fixed) {
    add_products_kernel<Fixed, Fixed>
        <<<grid, kJudgeThreads, 0, stream>>>(expected, rows, s.elements);
  };
  const operands& of = expected.of;
  if (of.a.type == of.b.type && of.a.inside == of.b.inside)
    with_fixed_operand(of.b, add_products);
  else
    add_products(not_fixed{});
  compare_elements_kernel<<<dim3(across, reference::kWholeRows), kJudgeThreads, 0, stream>>>(
      expected, rows, output, s.elements, s.found);
  check(cudaGetLastError(), "judging a result");
  found_ = s.found;
}

product_findings product_judge::findings(cudaStream_t stream) {
  product_findings found;
  check(cudaMemcpyAsync(&found, found_, sizeof found, cudaMemcpyDefault, stream), "cudaMemcpy");
  check(cudaStreamSynchronize(stream), "while the kernel ran");
  if (found.wrong_rows + found.wrong_elements == 0) found.row = -1;
  return found;
}

void product_judge::enqueue_reading(const void* buffer, const data::matrix& x,
                                    cudaStream_t stream) {
  grow(sizeof(data::reading));
  check(cudaMemsetAsync(memory_, 0, sizeof(data::reading), stream), "cudaMemset");
  enqueue_read(buffer, x, 0, false, nullptr, reinterpret_cast<data::reading*>(memory_), stream);
  if (reading_ == nullptr) {
    void* pinned = nullptr;
    check(cudaHostAlloc(&pinned, sizeof *reading_, cudaHostAllocDefault), "cudaHostAlloc");
    reading_ = static_cast<data::reading*>(pinned);
  }
  check(cudaMemcpyAsync(reading_, memory_, sizeof *reading_, cudaMemcpyDefault, stream),
        "cudaMemcpy");
}

data::reading product_judge::reading(cudaStream_t stream) {
  check(cudaStreamSynchronize(stream), "while the kernel ran");
  return *reading_;
}

}  // namespace kzoo::devices::cuda
