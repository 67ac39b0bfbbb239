#pragma once
// A parallel loop over independent blocks, on all hardware threads.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kzoo {

// The number of threads that such a loop uses.
inline unsigned hardware_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

// Calls body(block) once for each block in [0, count), from several threads and in any order. The
// first exception that a body throws ends the loop and is rethrown here.
template <class Body>
void for_each_block(std::int64_t count, const Body& body) {
  std::atomic<std::int64_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::int64_t block = next++; block < count; block = next++) {
      try {
        body(block);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  {
    const std::int64_t threads = std::min<std::int64_t>(count, hardware_threads());
    std::vector<std::jthread> others;
    for (std::int64_t i = 1; i < threads; ++i) others.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kzoo
