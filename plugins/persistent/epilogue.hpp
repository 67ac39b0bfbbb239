#pragma once
// C by the copy engine: accumulators go to shared memory in rows, a panel of 64 columns at a time,
// and leave from there while the next panel, or the next tile, is computed.

#include <kzoo/mma.hpp>
#include <kzoo/tma.hpp>
#include <kzoo/warpgroup.hpp>

#include <cstring>

namespace persistent {

enum class store_by { tma, pairs, elements };

// A warpgroup has two panels, used in turn.
template <class T>
using out_tile = kzoo::swizzled_tile<T, 64, 64>;
template <class T>
struct out_buffers {
  static constexpr int kCount = 2, kElements = kCount * out_tile<T>::kElements;
};

// Two values, rounded, in one register.
template <class T>
__device__ __forceinline__ unsigned pack(float x, float y) {
  const T both[2] = {T(x), T(y)};
  unsigned word = 0;
  memcpy(&word, both, sizeof word);
  return word;
}

// A warpgroup's 64 rows of C from (row0, col0) on. All its threads call this; thread 0 has to wait
// for the last stores before the block ends.
template <class T, int kCount>
__device__ __forceinline__ void store_by_tma(const kzoo::tensor_map<out_tile<T>>& map, float alpha,
                                             T* buffers, int warpgroup, int row0, int col0,
                                             const float (&acc)[kCount]) {
  constexpr int kPanels = kCount * 2 / 64, kPerPanel = kCount / kPanels;
  const int thread = threadIdx.x % kzoo::kWarpgroup, lane = thread % 32;
  // stmatrix: a lane points to row lane % 16 of 16 x 16 elements, at the first or second 8 columns.
  const int row = thread / 32 * 16 + lane % 16, right = lane / 16 * 8;
#pragma unroll
  for (int panel = 0; panel < kPanels; ++panel) {
    T* buffer = buffers + panel % out_buffers<T>::kCount * out_tile<T>::kElements;
    if (thread == 0) kzoo::tma_store_wait_read<out_buffers<T>::kCount - 1>();
    kzoo::named_barrier<kzoo::kWarpgroup>(1 + warpgroup);  // the panel may be overwritten
#pragma unroll
    for (int col = 0; col < 64; col += 16) {
      const float* from = acc + panel * kPerPanel + col / 2;
      unsigned words[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        words[i] = pack<T>(alpha * from[2 * i], alpha * from[2 * i + 1]);
      }
      kzoo::stmatrix(buffer + out_tile<T>::offset(row, col + right), words);
    }
    kzoo::fence_async_proxy();
    kzoo::named_barrier<kzoo::kWarpgroup>(1 + warpgroup);  // the panel is complete
    if (thread == 0) {
      kzoo::tma_store(map, buffer, row0, col0 + panel * 64);
      kzoo::tma_store_commit();
    }
  }
}

}  // namespace persistent
