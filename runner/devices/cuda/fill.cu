#include "devices/cuda/kernels.hpp"

#include "devices/cuda/clock.cuh"
#include "devices/cuda/fill.cuh"
#include "devices/cuda/runtime.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

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

__device__ const filled_buffer& buffer_of(const filled_buffer& x) { return x; }
__device__ const filled_buffer& buffer_of(const change_search::entry& x) { return x.buffer; }

// Calls visit(item, team, its type and content as constants) for each item with a buffer. Small
// buffers are visited side by side.
template <class Item, class Visit>
__device__ void visit_each(Item* items, int count, team mine, const Visit& visit) {
  for (int i = 0; i < count; ++i) {
    const data::matrix& x = buffer_of(items[i]).spec;
    with_fixed(x, [&](auto fixed) { visit(items[i], mine, fixed); });
    mine.number = (mine.number + mine.count - tiles_of(x) % mine.count) % mine.count;
  }
}

template <class Fixed>
__device__ void find_changes(const filled_buffer& in, const team& mine, data::changes* found) {
  const data::matrix x = Fixed::of(in.spec);
  const void* const buffer = in.words;
  constexpr counter kNone = ~counter{0};  // -1, as data::changes has it
  counter inside = 0, outside = 0, first_inside = kNone, first_outside = kNone;
  const auto compare = [&](std::int64_t index, std::int64_t row) {
    if (row >= 0 && in.elements_may_change) return;
    if (word_at(buffer, x, index) == original(x, index, row)) return;
    ++(row >= 0 ? inside : outside);
    counter& first = row >= 0 ? first_inside : first_outside;
    first = min(first, static_cast<counter>(index));
  };
  for_each_word(x, mine, compare, in.elements_may_change);
  // One atomic per word would take milliseconds where a kernel has written all of a buffer.
  const auto add = [](std::int64_t& all, std::int64_t& first_of_all, counter count, counter first) {
    count = warp_sum(count);
    first = of_warp(first, [](counter a, counter b) { return min(a, b); });
    if (threadIdx.x % kWarp != 0 || count == 0) return;
    atomicAdd(as_counter(&all), count);
    atomicMin(as_counter(&first_of_all), first);
  };
  add(found->inside, found->first_inside, inside, first_inside);
  add(found->outside, found->first_outside, outside, first_outside);
}

__global__ void find_changes_kernel(change_search::entry* all, int count) {
  visit_each(all, count, team_of_block(),
             [](change_search::entry& each, const team& mine, auto fixed) {
               find_changes<decltype(fixed)>(each.buffer, mine, &each.found);
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

change_search::change_search() {
  constexpr std::size_t kUsual = 64;
  grow(kUsual);
}

void change_search::grow(std::size_t count) {
  if (count <= capacity_) return;
  check(cudaFree(std::exchange(on_device_, nullptr)), "cudaFree");
  check(cudaFreeHost(std::exchange(on_host_, nullptr)), "cudaFreeHost");
  capacity_ = 0;
  const std::size_t bytes = count * sizeof(entry);
  check(cudaMalloc(reinterpret_cast<void**>(&on_device_), bytes),
        "cudaMalloc for comparing buffers");
  check(cudaHostAlloc(reinterpret_cast<void**>(&on_host_), bytes, cudaHostAllocDefault),
        "cudaHostAlloc");
  capacity_ = count;
}

void change_search::enqueue(std::span<const filled_buffer> buffers, cudaStream_t stream) {
  grow(buffers.size());
  count_ = buffers.size();
  for (std::size_t i = 0; i < count_; ++i) on_host_[i] = {buffers[i], {}};
  const std::size_t bytes = count_ * sizeof(entry);
  check(cudaMemcpyAsync(on_device_, on_host_, bytes, cudaMemcpyDefault, stream), "cudaMemcpy");
  find_changes_kernel<<<kBlocks, kThreads, 0, stream>>>(on_device_, static_cast<int>(count_));
  check(cudaGetLastError(), "comparing buffers");
  check(cudaMemcpyAsync(on_host_, on_device_, bytes, cudaMemcpyDefault, stream), "cudaMemcpy");
}

std::vector<data::changes> change_search::found() const {
  std::vector<data::changes> all;
  for (std::size_t i = 0; i < count_; ++i) all.push_back(on_host_[i].found);
  return all;
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

// The counters on which blocks wait have separate cache lines.
struct fill_progress {
  static constexpr unsigned kClosed = 1u << 31;

  alignas(128) unsigned begun;        // blocks, and kClosed once they no longer wait for the others
  alignas(128) unsigned taking_part;  // blocks that begin in time; 0: not yet known
  alignas(128) unsigned filled;       // blocks that have written their part
  alignas(128) unsigned flushed;      // blocks that have read their part
};

namespace {

constexpr int kFillThreads = 1024;
constexpr int kTeams = kFillThreads / team::kThreads;  // per block
constexpr int kMostBuffers = 20;  // A, B, C, scales, offsets, a workspace, operands of 8 stages
static_assert(KZOO_MOST_STAGES <= 8);
constexpr long long kMostWaitNs = 2'000'000;
// A longer step of the timer means that another process had the device.
constexpr long long kOwnStepNs = 50'000;

struct fill_job {
  filled_buffer buffers[kMostBuffers];
  int count;
  const uint4* flush;
  std::size_t flush_count;  // 0: none
  unsigned* never;          // never written; keeps the flush's loads
  timing::clock_stamp* clocks;
  unsigned* begun;  // in host memory
};

__device__ unsigned seen(const unsigned& number) {
  return *const_cast<const volatile unsigned*>(&number);
}

struct turn {
  unsigned number, count;  // among the blocks that take part; number == count: does not take part
};

__device__ turn begin(fill_progress* all) {
  __shared__ turn mine;
  if (threadIdx.x == 0) {
    const unsigned before = atomicAdd(&all->begun, 1u);
    if ((before & fill_progress::kClosed) != 0) {
      mine = {};
    } else {
      if (before + 1 == gridDim.x) atomicExch(&all->taking_part, gridDim.x);
      long long waited = 0, last = nanoseconds();
      unsigned count = 0;
      while ((count = seen(all->taking_part)) == 0) {
        const long long now = nanoseconds();
        waited += min(now - last, kOwnStepNs);
        last = now;
        if (waited < kMostWaitNs) continue;
        const unsigned begun = atomicOr(&all->begun, fill_progress::kClosed);
        if (begun < gridDim.x) atomicExch(&all->taking_part, begun);
      }
      mine = {before, count};
    }
  }
  __syncthreads();
  return mine;
}

// Returns once all blocks that take part have arrived.
__device__ void meet(unsigned* here, unsigned blocks) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(here, 1u);
    while (seen(*here) < blocks) {
    }
    __threadfence();
  }
  __syncthreads();
}

__device__ void fill_all(const fill_job& job, const turn& mine) {
  const team all{mine.number * kTeams + threadIdx.x / team::kThreads,
                 std::int64_t(mine.count) * kTeams, static_cast<int>(threadIdx.x % team::kThreads)};
  visit_each(job.buffers, job.count, all,
             [](const filled_buffer& each, const team& at, auto fixed) {
               fill_words<decltype(fixed)>(each.words, each.spec, at);
             });
}

// The memory holds zeros, so the store never happens; it only keeps the loads.
__device__ void flush_l2(const fill_job& job, const turn& mine) {
  constexpr int kAtOnce = 4;
  unsigned sum = 0;
  const std::size_t step = std::size_t(mine.count) * kFillThreads;
  std::size_t i = std::size_t(mine.number) * kFillThreads + threadIdx.x;
  const auto add = [&sum](const uint4& word) { sum |= word.x | word.y | word.z | word.w; };
  for (; i + (kAtOnce - 1) * step < job.flush_count; i += kAtOnce * step) {
    uint4 words[kAtOnce];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) words[j] = __ldcg(job.flush + i + j * step);
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) add(words[j]);
  }
  for (; i < job.flush_count; i += step) add(__ldcg(job.flush + i));
  if (sum != 0) *job.never = sum;
}

__global__ void __launch_bounds__(kFillThreads, 1)
    exclusive_kernel(const __grid_constant__ fill_job job, fill_progress* all) {
  const turn mine = begin(all);
  if (mine.number == mine.count) return;
  if (mine.number == 0 && threadIdx.x == 0) *job.begun = mine.count;
  fill_all(job, mine);
  meet(&all->filled, mine.count);
  if (job.clocks != nullptr && threadIdx.x == 0) stamp_clock(job.clocks);
  flush_l2(job, mine);
  meet(&all->flushed, mine.count);
}

}  // namespace

exclusive_fill::exclusive_fill(int ordinal) {
  multiprocessors_ = attribute(cudaDevAttrMultiProcessorCount, ordinal, "multiprocessors");
  cudaFuncAttributes kernel{};
  check(cudaFuncGetAttributes(&kernel, exclusive_kernel), "the filling kernel");
  shared_bytes_ =
      attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal, "shared memory of a block") -
      static_cast<int>(kernel.sharedSizeBytes);
  check(cudaFuncSetAttribute(exclusive_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             shared_bytes_),
        "shared memory of the filling kernel");
  check(cudaMalloc(&progress_, sizeof *progress_), "cudaMalloc");
  void* begun = nullptr;
  check(cudaHostAlloc(&begun, sizeof(unsigned), cudaHostAllocMapped), "cudaHostAlloc");
  blocks_begun_ = static_cast<volatile unsigned*>(begun);
  flushed_bytes_ =
      2 * static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize, ordinal, "L2 size"));
  check(cudaMalloc(&flushed_, flushed_bytes_), "cudaMalloc for the L2 flush");
  check(cudaMemset(flushed_, 0, flushed_bytes_), "cudaMemset for the L2 flush");
}

void exclusive_fill::enqueue(std::span<const filled_buffer> buffers, bool flush,
                             timing::clock_stamp* clocks, cudaStream_t stream) {
  if (buffers.size() > kMostBuffers) throw failure("a run with more matrices than can be filled");
  fill_job job{};
  std::ranges::copy(buffers, job.buffers);
  job.count = static_cast<int>(buffers.size());
  job.flush = static_cast<const uint4*>(flushed_);
  job.flush_count = flush ? flushed_bytes_ / sizeof(uint4) : 0;
  job.never = static_cast<unsigned*>(flushed_);
  job.clocks = clocks;
  job.begun = const_cast<unsigned*>(blocks_begun_);
  *blocks_begun_ = 0;
  check(cudaMemsetAsync(progress_, 0, sizeof *progress_, stream), "cudaMemset");
  exclusive_kernel<<<multiprocessors_, kFillThreads, shared_bytes_, stream>>>(job, progress_);
  check(cudaGetLastError(), "filling the matrices");
}

}  // namespace kzoo::devices::cuda
