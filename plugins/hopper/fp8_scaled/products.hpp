#pragma once
// A consumer's main loop: each k tile's products are sums of their own, which are scaled and added
// to those of a tile of C while other products run.

#include <hopper/common/consumer.hpp>
#include <kzoo/mma.hpp>

#include "scales.hpp"

namespace fp8_scaled {

using warp_specialized::barriers;
using warp_specialized::pipeline_state;

// Which products a scale is asked for: of a tile of C that begins in column `col`, and of a k tile.
struct k_tile {
  int col, number;
};

// A consumer's way through the stages: which one is multiplied next, and the products of which are
// added next.
template <class G, class Tile>
class pipeline {
 public:
  using Smem = wgmma::smem_layout<G, Tile>;

  // `k_tiles`: of all of the block's tiles of C.
  __device__ __forceinline__ pipeline(const typename G::a_type* stages,
                                      const stage_scales<Tile>* scales,
                                      barriers<Tile::kStages>& sync, int warpgroup, int k_tiles)
      : stages_(stages), scales_(scales), sync_(sync), row_(warpgroup * 64), k_tiles_(k_tiles) {}

 protected:
  static __device__ __forceinline__ int warp() { return threadIdx.x % kzoo::kWarpgroup / 32; }
  static __device__ __forceinline__ int lane() { return threadIdx.x % 32; }

  __device__ __forceinline__ const typename G::a_type* stage(
      const pipeline_state<Tile::kStages>& of) const {
    return stages_ + of.stage * Smem::kStage;
  }
  __device__ __forceinline__ void wait_for_next() { sync_.full[next_.stage].wait(next_.parity); }

  __device__ __forceinline__ factors<Tile> oldest_factors(k_tile of) const {
    const int row = row_ + warp() * 16 + lane() / 4;
    return {scales_[oldest_.stage], row, of.col, of.number};
  }

  // Says that this warp has read the oldest stage and its scales.
  __device__ __forceinline__ void release_oldest() {
    __syncwarp();
    if (lane() == 0) sync_.empty[oldest_.stage].arrive();
    oldest_.advance();
  }

  const typename G::a_type* stages_;
  const stage_scales<Tile>* scales_;
  barriers<Tile::kStages>& sync_;
  int row_;  // where the warpgroup's rows begin in the tile
  int k_tiles_;
  pipeline_state<Tile::kStages> next_{}, oldest_{};
};

// ptxas keeps products running through the loops as they are written here, and not through all
// that compute the same (it says so: C7510 to C7519).
//
// In each class run() does sum += the products of all k tiles, scaled. which() says which k tile's
// are next, added() is called after each.

// All columns at once.
template <class G, class Tile>
class whole_k_tiles : public pipeline<G, Tile> {
 public:
  using pipeline<G, Tile>::pipeline;

 protected:
  using accumulators = float[Tile::kAccumulators];

  // Starts the products of the next stage.
  __device__ __forceinline__ void multiply(accumulators& acc) {
    this->wait_for_next();
    wgmma::multiply_k_tile<G, Tile>(this->stage(this->next_), this->row_, true, acc);
    this->next_.advance();
  }

  // sum += the oldest products that run; kYounger others go on.
  template <int kYounger>
  __device__ __forceinline__ void add(k_tile of, accumulators& acc, accumulators& sum) {
    const factors<Tile> by = this->oldest_factors(of);
    kzoo::wgmma_wait<kYounger>(acc);
    this->release_oldest();
    by.add(acc, sum);
  }
};

// While one consumer adds, the other's products run.
template <class G, class Tile>
class one_set : public whole_k_tiles<G, Tile> {
  using typename whole_k_tiles<G, Tile>::accumulators;

 public:
  using whole_k_tiles<G, Tile>::whole_k_tiles;

  template <class Which, class Added>
  __device__ __forceinline__ void run(accumulators& sum, Which which, Added added) {
    accumulators acc;
    this->multiply(acc);
    for (int left = this->k_tiles_; left > 1; --left) {
      this->template add<0>(which(), acc, sum);
      this->multiply(acc);
      added();
    }
    this->template add<0>(which(), acc, sum);
    added();
  }
};

// For a single consumer: the next k tile's products run while those before are added.
template <class G, class Tile>
class two_sets : public whole_k_tiles<G, Tile> {
  using typename whole_k_tiles<G, Tile>::accumulators;

 public:
  using whole_k_tiles<G, Tile>::whole_k_tiles;

  template <class Which, class Added>
  __device__ __forceinline__ void run(accumulators& sum, Which which, Added added) {
    accumulators acc[2];
    int left = this->k_tiles_;
    this->multiply(acc[0]);
    for (; left > 2; left -= 2) {
      this->multiply(acc[1]);
      this->template add<1>(which(), acc[0], sum);
      added();
      this->multiply(acc[0]);
      this->template add<1>(which(), acc[1], sum);
      added();
    }
    if (left == 2) {
      this->multiply(acc[1]);
      this->template add<1>(which(), acc[0], sum);
      added();
      this->template add<0>(which(), acc[1], sum);
    } else {
      this->template add<0>(which(), acc[0], sum);
    }
    added();
  }
};

// For tiles whose sums leave no registers for as many accumulators: 64 columns at a time, which
// are added while the next 64 are multiplied. A is read once for all of them, into registers.
template <class G, class Tile>
class in_parts : public pipeline<G, Tile> {
  static constexpr int kPart = 64, kParts = Tile::kBN / kPart;
  static constexpr int kSets = 2, kLast = kSets - 1;  // of accumulators; the last part's
  static_assert(kParts % kSets == 0, "a part has the same set in each k tile");
  using accumulators = float[kPart / 2];
  using sums = float[Tile::kAccumulators];
  using typename pipeline<G, Tile>::Smem;

 public:
  using pipeline<G, Tile>::pipeline;

  template <class Which, class Added>
  __device__ __forceinline__ void run(sums& sum, Which which, Added added) {
    accumulators acc[kSets];
    multiply_first_part(acc[0]);
    for (int left = this->k_tiles_;; --left) {
      const factors<Tile> by = this->oldest_factors(which());
      multiply_and_add<1>(by, acc, sum);
      kzoo::wgmma_wait<0>(acc[kLast]);
      this->release_oldest();
      if (left == 1) {
        by.template add<(kParts - 1) * kPart>(acc[kLast], sum);
        added();
        break;
      }
      multiply_first_part(acc[0]);
      by.template add<(kParts - 1) * kPart>(acc[kLast], sum);
      added();
    }
  }

 private:
  static constexpr int kStep = 32, kSteps = Tile::kBK / kStep;  // along K, of an instruction

  // Starts the products of the next stage's first part.
  __device__ __forceinline__ void multiply_first_part(accumulators& acc) {
    this->wait_for_next();
    const auto* stage = this->stage(this->next_);
    const int row = this->row_ + this->warp() * 16 + this->lane() % 16;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      const int k = i * kStep + this->lane() / 16 * 16;
      kzoo::ldmatrix(a_[i].words, stage + Smem::a_tile::offset(row, k));
    }
    multiply<0>(stage, acc);
    this->next_.advance();
  }

  // Starts the products of the oldest stage's parts from kFirst on, and adds those of the part
  // before each.
  template <int kFirst>
  __device__ __forceinline__ void multiply_and_add(const factors<Tile>& by,
                                                   accumulators (&acc)[kSets], sums& sum) {
    if constexpr (kFirst < kParts) {
      accumulators& before = acc[(kFirst - 1) % kSets];
      multiply<kFirst>(this->stage(this->oldest_), acc[kFirst % kSets]);
      kzoo::wgmma_wait<1>(before);
      by.template add<(kFirst - 1) * kPart>(before, sum);
      multiply_and_add<kFirst + 1>(by, acc, sum);
    }
  }

  // Starts the products of a part.
  template <int kNumber>
  __device__ __forceinline__ void multiply(const typename G::a_type* stage, accumulators& acc) {
    // The tile is one panel: its rows, of 128 bytes, follow each other.
    const auto b = kzoo::moved(Smem::b_tile::at(Smem::b_of(stage), 0, 0), kNumber * kPart * 128);
    kzoo::wgmma_fence();
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      kzoo::wgmma<kPart>(acc, a_[i], kzoo::moved(b, i * kStep), i > 0);
    }
    kzoo::wgmma_commit();
  }

  kzoo::wgmma_fragment<typename G::a_type> a_[kSteps];  // of the stage whose parts are multiplied
};

}  // namespace fp8_scaled
