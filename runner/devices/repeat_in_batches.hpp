#pragma once
// What both backends do to keep a device busy with one kernel.

#include "devices/backend.hpp"

#include <chrono>
#include <cstdint>

namespace kzoo::devices {

// `time_batch(n)` makes n runs and returns the milliseconds that they took. Batches grow until one
// takes so long that what is done between two of them does not count; shorter ones are not counted.
template <class TimeBatch>
repeated_runs repeat_in_batches(const run_steps& steps, double seconds,
                                const TimeBatch& time_batch) {
  constexpr double kEnoughMs = 10;
  constexpr std::int64_t kMostRuns = 1 << 16;
  const auto start = std::chrono::steady_clock::now();
  const auto out_of_time = [&] {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    return took.count() >= seconds;
  };
  repeated_runs all;
  for (std::int64_t batch = 1; all.count == 0 || !out_of_time();) {
    steps.fill();
    steps.fill_late();
    const double ms = time_batch(batch);
    const bool grown = ms >= kEnoughMs || batch == kMostRuns;
    if (grown || out_of_time()) {
      all.count += batch;
      all.ms += ms;
    }
    if (!grown) batch *= 2;
  }
  return all;
}

}  // namespace kzoo::devices
