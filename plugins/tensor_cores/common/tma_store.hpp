#pragma once
// C by TMA: accumulators are rounded, go to shared memory in rows, a panel of 128 bytes per row at
// a time, and leave from there while something else is computed.

#include <kzoo/mma.hpp>
#include <kzoo/tma.hpp>
#include <kzoo/warpgroup.hpp>

#include <cstring>

namespace tma_store {

// Whether a C of elements T leaves by TMA: one of 16-bit elements does, one of floats if the tile
// says so.
template <class T, class Tile>
inline constexpr bool kByTma = sizeof(T) == 2 || requires {
  requires Tile::kFloatsByTma;
};

// A panel of C, 64 rows of 128 bytes, and the panels that a warpgroup has in shared memory, used in
// turn.
template <class T>
using c_panel = kzoo::swizzled_tile<T, 64, 128 / sizeof(T)>;
template <class T, class Tile>
struct c_panel_buffers {
  static constexpr int kCount = kByTma<T, Tile> ? Tile::kCPanels : 0;
  static constexpr int kElements = kCount * c_panel<T>::kElements;
  static constexpr std::size_t kBytes = kElements * sizeof(T);
};

// A warpgroup's finished part of C, 64 rows of kCols columns, rounded. Of 16-bit elements two are
// in a register: half as many as the accumulators had, which are free for the next tile.
template <class T, int kCols>
struct rounded_accumulators {
  static constexpr int kPanelCols = c_panel<T>::kCols, kPanels = kCols / kPanelCols;
  static constexpr int kOfWord = sizeof(unsigned) / sizeof(T);  // elements
  static constexpr int kWords = kCols / 2 / kOfWord, kPanelWords = kWords / kPanels;
  unsigned words[kWords];
  int row, col;  // of C

  __device__ __forceinline__ void round(int panel, const float (&acc)[kCols / 2], float alpha) {
#pragma unroll
    for (int i = panel * kPanelWords; i < (panel + 1) * kPanelWords; ++i) {
      T elements[kOfWord];
#pragma unroll
      for (int j = 0; j < kOfWord; ++j) elements[j] = T(alpha * acc[kOfWord * i + j]);
      memcpy(&words[i], elements, sizeof words[i]);
    }
  }

  // Starts to store a panel, through one of kBuffers. All of the warpgroup call this; its thread 0
  // has to wait for the last stores before the block ends.
  template <int kBuffers>
  __device__ __forceinline__ void store(int panel, const kzoo::tensor_map<c_panel<T>>& map,
                                        T* buffers, int warpgroup) const {
    store<kBuffers>(panel, buffers, warpgroup, [&](const T* buffer, int thread) {
      if (thread == 0) {
        kzoo::tma_store(map, buffer, row, col + panel * kPanelCols);
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
    const int thread = threadIdx.x % kzoo::kWarpgroup;
    if (thread == 0) kzoo::tma_store_wait_read<kBuffers - 1>();
    // The buffer may be overwritten. (Barrier 0 is that of __syncthreads().)
    kzoo::named_barrier<kzoo::kWarpgroup>(1 + warpgroup);
    const int first = thread / 32 * 16, lane = thread % 32;  // the warp's first row
#pragma unroll
    for (int i = 0; i < kPanelWords; i += 4) {
      const unsigned* const from = words + panel * kPanelWords + i;
      if constexpr (sizeof(T) == 2) {
        write_16_bit(buffer, first, lane, 4 * i, from);
      } else {
        write_32_bit(buffer, first, lane, 2 * i, from);
      }
    }
    kzoo::fence_async_proxy();
    kzoo::named_barrier<kzoo::kWarpgroup>(1 + warpgroup);  // the panel is complete
    leave(buffer, thread);
  }

 private:
  // Of 16 rows x 16 columns a lane has four words, one of each 8 x 8 matrix:
  //
  //     columns     0-7        8-15        rows of   lanes that point to them
  //     rows 0-7    matrix 0   matrix 2    0, 2      0-7, 16-23
  //     rows 8-15   matrix 1   matrix 3    1, 3      8-15, 24-31
  static __device__ __forceinline__ void write_16_bit(T* buffer, int row0, int lane, int col0,
                                                      const unsigned* from) {
    const unsigned four[4] = {from[0], from[1], from[2], from[3]};
    kzoo::stmatrix(buffer + c_panel<T>::offset(row0 + lane % 16, col0 + lane / 16 * 8), four);
  }
  // Of 16 rows x 8 columns a lane has two neighbours in each half of the rows.
  static __device__ __forceinline__ void write_32_bit(T* buffer, int row0, int lane, int col0,
                                                      const unsigned* from) {
    T* const to = buffer + c_panel<T>::offset(row0 + lane / 4, col0 + lane % 4 * 2);
    *reinterpret_cast<uint2*>(to) = make_uint2(from[0], from[1]);
    *reinterpret_cast<uint2*>(to + 8 * c_panel<T>::kCols) = make_uint2(from[2], from[3]);
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
