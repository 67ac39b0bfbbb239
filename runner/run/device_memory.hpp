#pragma once
// The device's memory: whether a plan fits into it, what workers leave allocated, and kernels that
// keep memory after they are destroyed.

#include "devices/nvml.hpp"
#include "run/plan.hpp"
#include "worker/messages.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::run {

// Throws input::invalid, with the memory needed, when the largest problem does not fit.
void check_memory(const plan& p);

// A worker's device memory for the largest problem, with its CUDA context: what a turn must leave.
struct memory_need {
  results::device on;
  std::int64_t bytes = 0;                  // 0 on the CPU
  const devices::nvml* monitor = nullptr;  // of the device; null on the CPU
};
// `monitor` must outlive the result.
memory_need memory_need_of(const plan& p, const devices::nvml& monitor);

// Frees the worker's memory and returns the report of plugin_client::free_memory(). A failure
// affects no verdict: the next prepare() starts a new worker. Ends the worker if less than `needed`
// is then free; what then stays in use belongs to other programs.
std::optional<worker::memory_report> release(client::plugin_client& client,
                                             const memory_need& needed = {});

// Finds kernels that keep memory after they are destroyed.
class leaks {
 public:
  // Adds what a turn has kept, if known. `needed`: as in memory_need.
  void add(const std::optional<worker::memory_report>& kept, std::int64_t needed);

  struct leak {
    std::string words;
    bool is_large;  // repeated runs would use up the memory
  };
  // Reports the memory kept by one turn if that left too little to others, or by each of the last
  // turns. Empty if it was less, after too few turns, or if each turn had a new process.
  std::optional<leak> found() const;

 private:
  std::vector<worker::memory_report> turns_;
  std::string starves_others_;  // in words
};

}  // namespace kzoo::run
