#pragma once
// C by TMA: accumulators are rounded, go to shared memory in rows, a panel of 64 columns at a time,
// and leave from there while something else is computed.

#include <kzoo/mma.hpp>
#include <kzoo/tma.hpp>
#include <kzoo/warpgroup.hpp>

#include <cstring>

namespace tma_store {

// A panel of C, 64 rows of 128 bytes, and the panels that a warpgroup has in shared memory, used in
// turn. Only a C of 16-bit elements leaves by TMA.
template <class T>
using c_panel = kzoo::swizzled_tile<T, 64, 128 / sizeof(T)>;
template <class T, class Tile>
struct c_panel_buffers {
  static constexpr int kCount = sizeof(T) == 2 ? Tile::kCPanels : 0;
  static constexpr int kElements = kCount * c_panel<T>::kElements;
  static constexpr std::size_t kBytes = kElements * sizeof(T);
};

// Two values, rounded, in one register.
template <class T>
__device__ __forceinline__ unsigned pack(float x, float y) {
  const T both[2] = {T(x), T(y)};
  unsigned word = 0;
  memcpy(&word, both, sizeof word);
  return word;
}

// A warpgroup's finished part of C, 64 rows of kCols columns, rounded: half as many registers as
// the accumulators had, which are free for the next tile.
template <class T, int kCols>
struct rounded_accumulators {
  static constexpr int kPanels = kCols / 64, kWords = kCols / 4, kPanelWords = kWords / kPanels;
  unsigned words[kWords];
  int row, col;  // of C

  __device__ __forceinline__ void round(int panel, const float (&acc)[kCols / 2], float alpha) {
#pragma unroll
    for (int i = panel * kPanelWords; i < (panel + 1) * kPanelWords; ++i) {
      words[i] = pack<T>(alpha * acc[2 * i], alpha * acc[2 * i + 1]);
    }
  }

  // Starts to store a panel, through one of kBuffers. All of the warpgroup call this; its thread 0
  // has to wait for the last stores before the block ends.
  template <int kBuffers>
  __device__ __forceinline__ void store(int panel, const kzoo::tensor_map<c_panel<T>>& map,
                                        T* buffers, int warpgroup) const {
    store<kBuffers>(panel, buffers, warpgroup, [&](const T* buffer, int thread) {
      if (thread == 0) {
        kzoo::tma_store(map, buffer, row, col + panel * 64);
        kzoo::tma_store_commit();
      }
    });
  }

  // The same where leave(buffer, thread) stores what is now in the buffer: grouped_persistent has
  // another way. Thread 0 has to commit a group for each, be it empty: its groups say when a buffer
  // may be overwritten.
  template <int kBuffers, class Leave>
  __device__ __forceinline__ void store(int panel, T* buffers, int warpgroup, Leave leave) const {
    T* buffer = buffers + panel % kBuffers * c_panel<T>::kElements;
    const int thread = threadIdx.x % kzoo::kWarpgroup, lane = thread % 32;
    // Of 16 rows x 16 columns a lane has four words, one of each 8 x 8 matrix:
    //
    //     columns     0-7        8-15        rows of   lanes that point to them
    //     rows 0-7    matrix 0   matrix 2    0, 2      0-7, 16-23
    //     rows 8-15   matrix 1   matrix 3    1, 3      8-15, 24-31
    const int to_row = thread / 32 * 16 + lane % 16, right = lane / 16 * 8;
    if (thread == 0) kzoo::tma_store_wait_read<kBuffers - 1>();
    // The buffer may be overwritten. (Barrier 0 is that of __syncthreads().)
    kzoo::named_barrier<kzoo::kWarpgroup>(1 + warpgroup);
#pragma unroll
    for (int x = 0; x < 64; x += 16) {
      unsigned four[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) four[i] = words[panel * kPanelWords + x / 4 + i];
      kzoo::stmatrix(buffer + c_panel<T>::offset(to_row, x + right), four);
    }
    kzoo::fence_async_proxy();
    kzoo::named_barrier<kzoo::kWarpgroup>(1 + warpgroup);  // the panel is complete
    leave(buffer, thread);
  }
};

// Rounds and stores a warpgroup's part of the block's tile of C, which begins at (row0, col0).
// `buffers`: the warpgroup's c_panel_buffers.
template <class Tile, class T>
__device__ __forceinline__ void store_tile(const kzoo::tensor_map<c_panel<T>>& map, T* buffers,
                                           int warpgroup, int row0, int col0, float alpha,
                                           const float (&acc)[Tile::kAccumulators]) {
  rounded_accumulators<T, Tile::kBN> c;
  c.row = row0 + warpgroup * 64;
  c.col = col0;
#pragma unroll
  for (int panel = 0; panel < c.kPanels; ++panel) {
    c.round(panel, acc, alpha);
    c.template store<Tile::kCPanels>(panel, map, buffers, warpgroup);
  }
}

// C as TMA knows it; tma_storable(g.c, g.n, g.ldc) has to be true.
template <class G>
using map_c_of = kzoo::tensor_map<c_panel<typename G::c_type>>;
template <class G>
map_c_of<G> map_of_c(const G& g) {
  return kzoo::make_tensor_map<c_panel<typename G::c_type>>(g.c, g.m, g.n, g.ldc);
}

}  // namespace tma_store
