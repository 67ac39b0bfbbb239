// Running a whole grid on the simulator: host code, below kzoo::launch.
#pragma once

#include <cstddef>

#include <kzoo/sim/vector_types.hpp>

namespace kzoo::sim {

struct grid_request {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared;  // bytes
  const void* kernel;          // its address, for its name in messages
  void (*call)(const void* closure);
  const void* closure;
};

// Runs all blocks on KZOO_SIM_THREADS OS threads, 1 to 256 (default: the machine's, at most 16), or
// one for each block where there are fewer; the caller's is among them. When a block fails no
// further one is started and its error is thrown here. Launches from several host threads take
// turns.
void run_grid(const grid_request& request);

// Dynamic bytes the kernel may have: what was asked for with allow_dynamic_shared, or 48 KB.
std::size_t allowed_dynamic_shared(const void* kernel);
void set_allowed_dynamic_shared(const void* kernel, std::size_t bytes);

}  // namespace kzoo::sim
