#pragma once
// The worker process: this same executable, started with a hidden first argument.

#include <cstdint>
#include <string_view>

namespace kzoo::worker {

inline constexpr std::string_view kWorkerCommand = "__worker";

// An environment variable: among how many parts of a run the workers' host memory is divided.
inline constexpr const char* kShardsVariable = "KZOO_PARTS";

// Bytes of host memory that this worker may have.
std::uint64_t worker_memory_limit();

// For a process that runs a plugin: no core dumps, and limits to what it may write and allocate.
void set_limits();

// Answers requests until the supervisor goes away.
int worker_main();

}  // namespace kzoo::worker
