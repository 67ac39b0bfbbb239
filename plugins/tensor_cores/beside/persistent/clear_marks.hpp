#pragma once
// The launch before one that keeps a pace: no cluster has come to a mark.

#include <kzoo/launch.hpp>

#include <tensor_cores/common/pace.hpp>

namespace persistent {

inline constexpr int kClearThreads = 256;
template <class S>
__global__ void __launch_bounds__(kClearThreads) clear_marks(pace<S> marks) {
  for (int i = static_cast<int>(threadIdx.x); i < marks.marks; i += kClearThreads) {
    marks.arrived[i] = 0;
  }
}

// Enqueues it before the launch that keeps the pace.
template <class S>
void launch_clear_marks(const pace<S>& marks, kzoo::stream_t stream) {
  kzoo::launch({.grid = dim3(1),
                .block = dim3(kClearThreads),
                .max_threads = kClearThreads,
                .stream = stream},
               clear_marks<S>, marks);
}

}  // namespace persistent
