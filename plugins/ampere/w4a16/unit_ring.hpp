#pragma once
// The weights of few_rows.hpp on their way: each warp has a ring in shared memory for its own, and
// starts its copies itself.

#include <kzoo/async_copy.hpp>
#include <kzoo/tma.hpp>

#include <cstddef>

#include "division.hpp"

namespace w4a16 {

// A block has 32 x groups x slices threads.
__device__ __forceinline__ int warp_of_block() {
  return static_cast<int>(threadIdx.y + threadIdx.z * blockDim.y);
}

// A warp's units, one after the other, through its ring.
template <class G>
class unit_ring {
 public:
  // Units of a part, from unit `before` of K on.
  __device__ __forceinline__ unit_ring(const G& g, const kzoo::tensor_map<unit_tile>& map,
                                       const strips_and_parts& d, unsigned char* shared, int before,
                                       int units)
      : g_(g),
        map_(map),
        d_(d),
        before_(before),
        units_(units),
        next_(static_cast<int>(threadIdx.z)),
        strip_(next_ < units ? static_cast<int>(blockIdx.x) : d.strips) {
    const int first = warp_of_block() * kDepth, all = d.warps() * kDepth;
    weights_ = reinterpret_cast<kzoo::int4x2*>(shared) + first * unit_tile::kElements;
    auto* const scales = reinterpret_cast<unit_scales*>(shared + all * unit_tile::kBytes);
    scales_ = scales + first;
    arrived_ = reinterpret_cast<kzoo::mbarrier*>(scales + all) + first;
    if (threadIdx.x == 0) {
      for (int i = 0; i < kDepth; ++i) arrived_[i].init(1);
      kzoo::fence_mbarrier_init();
    }
    __syncwarp();
  }

  // Starts to copy the next one into slot `i`, with zeros outside B.
  __device__ __forceinline__ void copy(int i) {
    if (strip_ < d_.strips) {
      const int lane = static_cast<int>(threadIdx.x), number = before_ + next_;
      const int col0 = strip_ * d_.columns() + static_cast<int>(threadIdx.y) * kUnitColumns;
      copy_weights(number, col0, i);
      const int block = number * kUnitBlocks;
      const float* from = g_.scales_b.scales + block * g_.scales_b.ld + col0 + lane;
#pragma unroll
      for (int j = 0; j < kUnitBlocks; ++j) {
        kzoo::copy_async<4>(&scales_[i].of[j][lane], from,
                            (block + j) * kBlock < g_.k && col0 + lane < g_.n);
        from += g_.scales_b.ld;
      }
      next_ += d_.slices;
      if (next_ >= units_) {
        next_ = static_cast<int>(threadIdx.z);
        strip_ += static_cast<int>(gridDim.x);
      }
    }
    kzoo::commit_group();
  }

  // Slot i, for the `phase`th time: its copies have arrived.
  __device__ __forceinline__ void wait(int i, int phase) const {
    kzoo::wait_group<kDepth - 1>();
    __syncwarp();
    arrived_[i].wait(phase % 2);
  }

  // Of 32 steps, number `chunk` in the unit.
  __device__ __forceinline__ const uint4& weights(int i, int column, int chunk) const {
    return *reinterpret_cast<const uint4*>(weights_ + i * unit_tile::kElements +
                                           unit_tile::offset(column, chunk * 16));
  }
  // Of four columns.
  __device__ __forceinline__ const float4& scales(int i, int block, int column) const {
    return *reinterpret_cast<const float4*>(&scales_[i].of[block][column]);
  }

 private:
  __device__ __forceinline__ void copy_weights(int number, int col0, int i) const {
    kzoo::int4x2* const to = weights_ + i * unit_tile::kElements;
    if (threadIdx.x == 0) {
      arrived_[i].arrive_and_expect(unit_tile::kBytes);
      kzoo::tma_load(map_, to, col0, number * (kUnitSteps / 2), arrived_[i]);
    }
  }

  const G& g_;
  const kzoo::tensor_map<unit_tile>& map_;
  const strips_and_parts& d_;
  kzoo::int4x2* weights_;
  unit_scales* scales_;
  kzoo::mbarrier* arrived_;
  int before_, units_, next_, strip_;
};

}  // namespace w4a16
