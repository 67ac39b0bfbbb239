#pragma once
// The worker process: this same executable, started with a hidden first argument.

#include "process/confinement.hpp"

#include <cstdint>
#include <string_view>

namespace kzoo::worker {

inline constexpr std::string_view kWorkerCommand = "__worker";

// An environment variable: the number of ranks among which host memory for workers is divided.
inline constexpr const char* kRanksVariable = "KZOO_RANKS";

// How many bytes of host memory a worker may allocate: a share of what is free at the first call.
std::uint64_t worker_memory_limit();

// How every process is started that loads a plugin.
process::confinement of_plugins();

// Opens the device, if one is named, then answers requests until the supervisor closes the channel.
int worker_main(std::string_view device);

}  // namespace kzoo::worker
