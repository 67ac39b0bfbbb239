#pragma once
// The launch before a kernel with soft barriers: no cluster has arrived.

#include <kzoo/launch.hpp>

#include <hopper/common/soft_barriers.hpp>

namespace persistent {

inline constexpr int kClearThreads = 256;
template <class Tile>
__global__ void __launch_bounds__(kClearThreads) clear_barriers(soft_barriers<Tile> soft) {
  for (int i = static_cast<int>(threadIdx.x); i < soft.count; i += kClearThreads) {
    soft.arrived[i] = 0;
  }
}

// Enqueues it before the kernel.
template <class Tile>
void launch_clear_barriers(const soft_barriers<Tile>& soft, kzoo::stream_t stream) {
  kzoo::launch({.grid = dim3(1),
                .block = dim3(kClearThreads),
                .max_threads = kClearThreads,
                .stream = stream},
               clear_barriers<Tile>, soft);
}

}  // namespace persistent
