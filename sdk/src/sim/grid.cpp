// Spreads the blocks of a launch over OS threads.
#include <kzoo/sim/grid.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include <kzoo/error.hpp>
#include <kzoo/launch_limits.hpp>

#include "block.hpp"
#include "faults.hpp"

namespace kzoo::sim {
namespace {

// More threads gain little. Each has up to 1024 stacks with two memory mappings each, or more for
// clusters; a process may have 65 530 mappings.
constexpr unsigned kDefaultMostThreads = 16;

// The first OS threads run clusters with more threads than a block may have, so that OS thread i
// has at most 8192 / (i + 1) stacks, or 1024.
unsigned most_threads_for(const grid_request& r, unsigned most) {
  constexpr unsigned kMostOfBlock = 1024, kMostOfCluster = 8 * kMostOfBlock;
  const unsigned threads =
      r.block.x * r.block.y * r.block.z * r.cluster.x * r.cluster.y * r.cluster.z;
  return threads <= kMostOfBlock ? most : std::min(most, std::max(1u, kMostOfCluster / threads));
}

// The most OS threads, including threads for blocks that wait for others.
unsigned most_threads_in_need(const grid_request& r) {
  constexpr unsigned kMost = 32, kMostStacks = 8192;
  const unsigned threads =
      r.block.x * r.block.y * r.block.z * r.cluster.x * r.cluster.y * r.cluster.z;
  return std::min(kMost, kMostStacks / threads);
}

unsigned thread_count() {
  if (const char* text = std::getenv("KZOO_SIM_THREADS")) {
    unsigned count = 0;
    const char* end = text + std::strlen(text);
    if (std::from_chars(text, end, count).ptr == end && count >= 1 && count <= 256) return count;
    throw error(KZOO_ERROR,
                std::string("KZOO_SIM_THREADS is '") + text + "', not a number from 1 to 256");
  }
  return std::clamp(std::thread::hardware_concurrency(), 1u, kDefaultMostThreads);
}

// Whether a thread of the launch that runs has called wait_for_previous().
std::atomic<bool> waited{false};

struct job {
  explicit job(const grid_request& r)
      : request(r),
        clusters(r.grid.x / r.cluster.x, r.grid.y / r.cluster.y, r.grid.z / r.cluster.z),
        count(static_cast<std::uint64_t>(clusters.x) * clusters.y * clusters.z),
        seed(schedule_seed()) {}

  const grid_request& request;
  dim3 clusters;  // the grid in clusters, which mostly have one block
  std::uint64_t count;
  std::uint64_t seed;
  std::atomic<std::uint64_t> next{0};
  std::atomic<bool> failed{false};

  std::mutex mutex;  // guards the next two members
  std::uint64_t failed_cluster = 0;
  std::exception_ptr failure{};  // the first failed cluster's, in grid order

  // Whether all clusters have begun.
  bool is_done() const { return failed || next >= count; }

  void report(std::uint64_t cluster, std::exception_ptr error) {
    const std::lock_guard lock(mutex);
    if (failure == nullptr || cluster < failed_cluster) {
      failure = std::move(error);
      failed_cluster = cluster;
    }
    failed = true;
  }

  void run_blocks(std::unique_ptr<block_runner>& runner) {
    std::uint64_t cluster = 0;
    try {
      if (runner == nullptr) runner = std::make_unique<block_runner>();
      runner->prepare(request, seed);
      const dim3 &c = clusters, &of = request.cluster;
      while (!failed && (cluster = next.fetch_add(1, std::memory_order_relaxed)) < count) {
        const uint3 first_block{static_cast<unsigned>(cluster % c.x) * of.x,
                                static_cast<unsigned>(cluster / c.x % c.y) * of.y,
                                static_cast<unsigned>(cluster / c.x / c.y) * of.z};
        const std::uint64_t row = std::uint64_t{first_block.z} * request.grid.y + first_block.y;
        const std::uint64_t number = row * request.grid.x + first_block.x;
        if (watching != nullptr && !watching->wants_block(number)) continue;
        if (auto error = runner->run(first_block, cluster)) report(cluster, std::move(error));
      }
    } catch (...) {  // no memory for threads or stacks
      report(cluster, std::current_exception());
    }
  }
};

// Threads that sleep between launches. The launching thread runs no block: see static_shared. Never
// destroyed: ending them at exit would hang in a process that exits from within a kernel, or was
// forked. The module must stay loaded (see CMakeLists.txt).
class pool {
 public:
  static pool& instance() {
    static pool* const only = new pool;
    return *only;
  }

  void run(job& work) {
    const std::lock_guard one_launch_at_a_time(launch_);
    if (watching != nullptr) watching->begin_launch(work.request);
    install_fault_handler();
    waited = false;
    const auto helpers = static_cast<unsigned>(
        std::min<std::uint64_t>(work.count, most_threads_for(work.request, threads_)));
    std::unique_lock lock(mutex_);
    while (started_ < helpers) {
      std::thread([this, number = started_] { help(number); }).detach();
      ++started_;
    }
    job_ = &work;
    helpers_ = wanted_ = helpers;
    wake_.notify_all();
    // Does not wait for helpers that wake up after all blocks have been taken.
    done_.wait(lock, [&] { return busy_ == 0 && work.is_done(); });
    wanted_ = 0;
    if (work.request.dependent && !waited && !work.failed) {
      work.report(0, std::make_exception_ptr(error(
                         KZOO_ERROR, "kernel " + symbol_name(work.request.kernel) +
                                         ": a dependent launch without wait_for_previous()")));
    }
  }

  // With one helper more, if all are busy.
  void begin_another_block() {
    const std::lock_guard lock(mutex_);
    if (job_->is_done() || wanted_ != 0 || helpers_ >= most_threads_in_need(job_->request)) return;
    ++wanted_;
    if (++helpers_ > started_) {
      std::thread([this, number = started_] { help(number); }).detach();
      ++started_;
    }
    wake_.notify_all();
  }

 private:
  void help(unsigned number) {
    std::unique_ptr<block_runner> runner;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return wanted_ != 0 && number < helpers_; });
      --wanted_;
      ++busy_;
      job* const work = job_;
      lock.unlock();
      work->run_blocks(runner);
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  const unsigned threads_ = thread_count();
  std::mutex launch_;
  std::mutex mutex_;  // guards all members below
  std::condition_variable wake_, done_;
  unsigned started_ = 0;
  unsigned helpers_ = 0;  // the first of them work on the job
  unsigned wanted_ = 0;   // times that one of them should still join it
  unsigned busy_ = 0;
  job* job_ = nullptr;
};

struct opt_in_table {
  std::mutex mutex;
  std::unordered_map<const void*, std::size_t> bytes;
};

opt_in_table& opt_ins() {
  static opt_in_table table;
  return table;
}

}  // namespace

observer* watching = nullptr;

void begin_another_block() { pool::instance().begin_another_block(); }

void wait_for_previous() {
  if (!waited.load(std::memory_order_relaxed)) waited = true;
}

void run_grid(const grid_request& request) {
  if (current != nullptr) fail("kzoo::launch was called by device code");
  job work(request);
  pool::instance().run(work);
  if (work.failure != nullptr) std::rethrow_exception(work.failure);
}

std::size_t allowed_dynamic_shared(const void* kernel) {
  opt_in_table& table = opt_ins();
  const std::lock_guard lock(table.mutex);
  const auto found = table.bytes.find(kernel);
  const std::size_t asked = found == table.bytes.end() ? 0 : found->second;
  return std::max(asked, launch_limits{}.shared);
}

void raise_allowed_dynamic_shared(const void* kernel, std::size_t bytes) {
  opt_in_table& table = opt_ins();
  const std::lock_guard lock(table.mutex);
  std::size_t& allowed = table.bytes[kernel];
  allowed = std::max(allowed, bytes);
}

}  // namespace kzoo::sim
