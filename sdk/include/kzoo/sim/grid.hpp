// Runs a whole grid on the simulator: host code, below kzoo::launch.
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
  dim3 cluster = dim3(1);  // divides the grid
  bool dependent = false;
};

// Runs all blocks on KZOO_SIM_THREADS OS threads, 1 to 256 (default: the machine's, at most 16),
// but no more than blocks. The calling thread waits and runs none, so that its __shared__ variables
// belong to no block. After a block fails, starts no further block and throws its error. Launches
// from several host threads run one after the other.
void run_grid(const grid_request& request);

// Device code. A dependent launch in which no thread calls it is an error.
void wait_for_previous();

// Bytes of dynamic shared memory that the kernel may have: the maximum given to
// allow_dynamic_shared, or 48 KB.
std::size_t allowed_dynamic_shared(const void* kernel);
void raise_allowed_dynamic_shared(const void* kernel, std::size_t bytes);

}  // namespace kzoo::sim
