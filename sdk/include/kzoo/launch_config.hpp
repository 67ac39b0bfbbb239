// The shape of a launch. See launch.hpp.
#pragma once

#include <cstddef>

#include <kzoo/cuda.hpp>

namespace kzoo {

#if defined(KZOO_REAL_CUDA)
using stream_t = cudaStream_t;  // CUDA's
#else
using stream_t = void*;  // the only stream, always idle
#endif

// How kzoo::launch starts a kernel.
struct launch_config {
  dim3 grid;                       // blocks
  dim3 block;                      // threads
  std::size_t dynamic_shared = 0;  // bytes per block
  unsigned max_threads = 0;        // per block, as given to __launch_bounds__; 0: not checked
  stream_t stream{};               // the caller's
  dim3 cluster = dim3(1);          // blocks that run together (sm_90): see cluster.hpp
  bool dependent = false;  // may start before the previous launch ends: see dependent_launch.hpp
};

}  // namespace kzoo
