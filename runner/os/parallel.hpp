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

inline unsigned hardware_threads() { return std::max(1u, std::thread::hardware_concurrency()); }

// Calls body(block) once for each block in [0, count), from several threads and in any order. A
// body's first exception ends the loop and is rethrown here.
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

// Calls body(row) for each row, of `length` elements, on several threads. Short rows share a block,
// so that a small matrix starts no threads.
template <class Body>
void for_each_row(std::int64_t rows, std::int64_t length, const Body& body) {
  constexpr std::int64_t kElementsOfBlock = 1 << 14;
  const std::int64_t at_once =
      std::max<std::int64_t>(1, kElementsOfBlock / std::max<std::int64_t>(1, length));
  for_each_block((rows + at_once - 1) / at_once, [&](std::int64_t block) {
    const std::int64_t end = std::min(rows, (block + 1) * at_once);
    for (std::int64_t row = block * at_once; row < end; ++row) body(row);
  });
}

}  // namespace kzoo
