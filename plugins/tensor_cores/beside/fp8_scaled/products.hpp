#pragma once
// A consumer's way through the stages: which one is multiplied next, and which products are scaled
// and added next.

#include <kzoo/mma.hpp>
#include <tensor_cores/common/producer_consumer.hpp>

#include "scales.hpp"

namespace fp8_scaled {

using warp_specialized::barriers;
using warp_specialized::pipeline_state;

template <class G, class Tile>
class pipeline {
 public:
  using accumulators = float[Tile::kAccumulators];
  using Smem = wgmma::smem_layout<G, Tile>;

  // `k_tiles`: of all of the block's tiles of C.
  __device__ __forceinline__ pipeline(const typename G::a_type* stages,
                                      const stage_scales<Tile>* scales,
                                      barriers<Tile::kStages>& sync, int warpgroup, int k_tiles)
      : stages_(stages),
        scales_(scales),
        sync_(sync),
        row_(warpgroup * 64),
        to_release_(k_tiles - Tile::kStages) {}

  // Starts the products of the next stage.
  __device__ __forceinline__ void multiply(accumulators& acc) {
    sync_.full[next_.stage].wait(next_.parity);
    wgmma::multiply_k_tile<G, Tile>(stages_ + next_.stage * Smem::kStage, row_, true, acc);
    next_.advance();
  }

  // sum += the oldest products that run, scaled, of k tile `k_tile` of a tile of C from column
  // `col` on. kYounger others go on.
  template <int kYounger>
  __device__ __forceinline__ void add(int col, int k_tile, accumulators& acc, accumulators& sum) {
    const factors<Tile> by = oldest_factors(col, k_tile);
    kzoo::wgmma_wait<kYounger>(acc);
    release();
    by.add(acc, sum);
  }

 protected:
  __device__ __forceinline__ factors<Tile> oldest_factors(int col, int k_tile) const {
    const int row = row_ + warp() * 16 + lane() / 4;
    return {scales_[oldest_.stage], row, col, k_tile};
  }

  // Says that this warp has read the oldest stage and its scales. No producer waits for the last
  // stages to be empty, and the other block of the cluster may have ended by then.
  __device__ __forceinline__ void release() {
    __syncwarp();
    if (to_release_-- > 0) {
      if constexpr (Tile::kCluster == 1) {
        if (lane() == 0) sync_.empty[oldest_.stage].arrive();
      } else {
        if (lane() < Tile::kCluster) sync_.empty[oldest_.stage].arrive_in(lane());
      }
    }
    oldest_.advance();
  }

  static __device__ __forceinline__ int warp() { return threadIdx.x % kzoo::kWarpgroup / 32; }
  static __device__ __forceinline__ int lane() { return threadIdx.x % 32; }

  const typename G::a_type* stages_;
  const stage_scales<Tile>* scales_;
  barriers<Tile::kStages>& sync_;
  int row_;  // where the warpgroup's rows begin in the tile
  int to_release_;
  pipeline_state<Tile::kStages> next_{}, oldest_{};
};

// The same for a tile whose sums leave no registers for as many accumulators: a k tile is
// multiplied in parts of 64 columns. A is read once for all parts, into registers.
template <class G, class Tile>
class pipeline_of_parts : public pipeline<G, Tile> {
  using base = pipeline<G, Tile>;
  using typename base::Smem;
  static constexpr int kParts = Tile::kBN / 64, kSets = Tile::kAccumulatorSets;
  static_assert(kParts % kSets == 0, "a part has the same accumulators in each k tile");

 public:
  using base::base;
  using part = float[64 / 2];

  // Starts the products of the next stage's first part.
  __device__ __forceinline__ void multiply_first(part (&acc)[kSets]) {
    auto& next = this->next_;
    this->sync_.full[next.stage].wait(next.parity);
    const auto* stage = this->stages_ + next.stage * Smem::kStage;
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      const int row = this->row_ + this->warp() * 16 + this->lane() % 16;
      kzoo::ldmatrix(a_[k].words,
                     stage + Smem::a_tile::offset(row, k * kStep + this->lane() / 16 * 16));
    }
    multiply<0>(stage, acc[0]);
    next.advance();
  }

  // sum += the products of the stage whose first part runs, but for those of the last part, which
  // are done when this returns. What they have to be multiplied by is returned.
  __device__ __forceinline__ factors<Tile> add_all_but_last(int col, int k_tile, part (&acc)[kSets],
                                                            float (&sum)[Tile::kAccumulators]) {
    const auto* stage = this->stages_ + this->oldest_.stage * Smem::kStage;
    const factors<Tile> by = this->oldest_factors(col, k_tile);
    add_parts<1>(stage, by, acc, sum);
    kzoo::wgmma_wait<0>(acc[kSets - 1]);
    this->release();
    return by;
  }
  __device__ __forceinline__ void add_last(const factors<Tile>& by, const part (&acc)[kSets],
                                           float (&sum)[Tile::kAccumulators]) const {
    by.template add<(kParts - 1) * 64>(acc[kSets - 1], sum);
  }

 private:
  static constexpr int kStep = 32, kSteps = Tile::kBK / kStep;  // along K, of an instruction

  // Starts the products of the parts from kPart on, and adds those before each.
  template <int kPart>
  __device__ __forceinline__ void add_parts(const typename G::a_type* stage,
                                            const factors<Tile>& by, part (&acc)[kSets],
                                            float (&sum)[Tile::kAccumulators]) {
    if constexpr (kPart < kParts) {
      multiply<kPart>(stage, acc[kPart % kSets]);
      part& before = acc[(kPart - 1) % kSets];
      kzoo::wgmma_wait<1>(before);
      by.template add<(kPart - 1) * 64>(before, sum);
      add_parts<kPart + 1>(stage, by, acc, sum);
    }
  }

  template <int kPart>
  __device__ __forceinline__ void multiply(const typename G::a_type* stage, part& acc) {
    const auto b = Smem::b_tile::at(Smem::b_of(stage), 0, 0);
    kzoo::wgmma_fence();
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      // The tile is one panel: its rows, of 128 bytes, follow each other.
      kzoo::wgmma<64>(acc, a_[k], kzoo::moved(b, kPart * 64 * Tile::kBK + k * kStep), k > 0);
    }
    kzoo::wgmma_commit();
  }

  kzoo::wgmma_fragment<typename G::a_type> a_[kSteps];
};

}  // namespace fp8_scaled
