#pragma once
// The device's memory: whether a plan fits into it, and what workers leave allocated.

#include "run/plan.hpp"

#include <cstdint>
#include <optional>

namespace kzoo::run {

// Throws input::invalid, with the memory needed, when the largest problem does not fit.
void check_memory(const plan& p);

// A worker's device memory for the largest problem, with its CUDA context: what a turn must leave.
struct memory_need {
  results::device on;
  std::int64_t bytes = 0;  // 0 on the CPU
};
memory_need memory_need_of(const plan& p);

// Frees the worker's memory and returns the report of plugin_client::free_memory(). A failure
// affects no verdict: the next prepare() starts a new worker. Ends the worker if less than `needed`
// is then free; what then stays in use belongs to other programs.
std::optional<worker::memory_report> release(client::plugin_client& client,
                                             const memory_need& needed = {});

}  // namespace kzoo::run
