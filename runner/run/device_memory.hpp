#pragma once
// The device's memory: whether a plan fits into it, and what workers keep of it.

#include "run/plan.hpp"

#include <cstdint>
#include <optional>

namespace kzoo::run {

// Throws input::invalid, with the memory needed, when the largest problem does not fit.
void check_memory(const plan& p);

// What a worker needs of the device's memory for the largest problem, its CUDA context included,
// and so each turn has to leave to the next one.
struct memory_need {
  results::device on;
  std::int64_t bytes = 0;  // on the CPU 0
};
memory_need memory_need_of(const plan& p);

// Frees the worker's memory. A failure affects no verdict: the next prepare() starts a new worker.
// If less is free then than is needed, it ends the worker, which may keep that memory; what stays
// in use after its end is another program's. Returns what plugin_client::release() does.
std::optional<worker::memory_report> release(client::plugin_client& client,
                                             const memory_need& needed = {});

}  // namespace kzoo::run
