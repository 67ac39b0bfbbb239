#pragma once
// Which elements of a tile a thread loads when kThreads threads share the work: kWidth neighbours
// at a time, kAcross threads side by side along a row, kDown rows at once.
//
//            kAcross * kWidth
//         +----+----+----+----+ - - - +
//         | t0 | t1 | t2 | t3 |       |
//   kDown | t4 | t5 | t6 | t7 |       |  Rows      each thread: kRowIterations x
//         +----+----+----+----+ - - - +            kColIterations of these
//         |         ...       |       |
//         + - - - - - - - - - + - - - +
//                    Cols

#include <kzoo/cuda.hpp>

namespace common {

template <int Rows, int Cols, int kThreads, int Width,
          int Across = (Cols / Width < kThreads ? Cols / Width : kThreads)>
struct thread_map {
  static constexpr int kWidth = Width, kAcross = Across, kDown = kThreads / Across;
  static constexpr int kRowIterations = Rows / kDown, kColIterations = Cols / (Across * Width);
  static constexpr int kCount = kRowIterations * kColIterations;
  static_assert(kThreads % Across == 0 && Rows % kDown == 0 && Cols % (Across * Width) == 0,
                "each thread must load the same number of elements");

  // The first element of thread `thread`.
  static constexpr __host__ __device__ int row(int thread) { return thread / Across; }
  static constexpr __host__ __device__ int col(int thread) { return thread % Across * Width; }
};

}  // namespace common
