#pragma once
// The launch before a kernel with soft barriers: no cluster has arrived.

#include <kzoo/launch.hpp>

#include <tensor_cores/common/soft_barriers.hpp>

namespace persistent {

inline constexpr int kClearThreads = 256;
template <class S>
__global__ void __launch_bounds__(kClearThreads) clear_barriers(soft_barriers<S> soft) {
  for (int i = static_cast<int>(threadIdx.x); i < soft.count; i += kClearThreads) {
    soft.arrived[i] = 0;
  }
}

// Enqueues it before the kernel.
template <class S>
void launch_clear_barriers(const soft_barriers<S>& soft, kzoo::stream_t stream) {
  kzoo::launch({.grid = dim3(1),
                .block = dim3(kClearThreads),
                .max_threads = kClearThreads,
                .stream = stream},
               clear_barriers<S>, soft);
}

}  // namespace persistent
