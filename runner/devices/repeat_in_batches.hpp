#pragma once
// Keeps a device busy with one kernel.

#include "devices/backend.hpp"
#include "devices/random_key.hpp"

#include <chrono>
#include <cstdint>

namespace kzoo::devices {

// `time_batch(n)` writes new numbers and makes n runs, with fill_between() between them; returns
// their milliseconds. Batches grow until the work between two of them is negligible. Then their
// lengths are random, so that no run can know that it is the last, which is judged.
template <class TimeBatch>
repeated_runs repeat_in_batches(backend& on, const run_steps& steps, double seconds,
                                const TimeBatch& time_batch) {
  constexpr double kEnoughMs = 10;
  constexpr std::int64_t kMostRuns = 256;  // the stream's queue holds them
  const auto start = std::chrono::steady_clock::now();
  const auto out_of_time = [&] {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return took.count() >= seconds;
  };
  repeated_runs all;
  for (std::int64_t usual = 1; all.count == 0 || !out_of_time();) {
    const auto spread = static_cast<std::uint64_t>(usual);
    const std::int64_t batch = usual / 2 + 1 + static_cast<std::int64_t>(random_key() % spread);
    const double ms = time_batch(batch);
    all.found = on.judge(steps.output, steps.expected(), random_key());
    const bool grown = ms >= kEnoughMs || usual == kMostRuns;
    if (grown || out_of_time() || !all.found.right()) {
      all.count += batch;
      all.ms += ms;
    }
    if (!all.found.right()) break;
    if (!grown) usual *= 2;
  }
  return all;
}

}  // namespace kzoo::devices
