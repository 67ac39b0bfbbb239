#pragma once
// The worker process: this same executable, started with a hidden first argument.

#include "process/confinement.hpp"

#include <cstdint>
#include <string_view>

namespace kzoo::worker {

inline constexpr std::string_view kWorkerCommand = "__worker";

// An environment variable: the number of ranks that share host memory for workers.
inline constexpr const char* kRanksVariable = "KZOO_RANKS";

// Bytes of host memory that a worker may allocate: a share of the free memory at the first call.
std::uint64_t worker_memory_limit();

// Confinement of every process that loads a plugin.
process::confinement of_plugins();

// Opens the device, if given, then answers requests until the supervisor closes the channel.
int worker_main(std::string_view device);

}  // namespace kzoo::worker
