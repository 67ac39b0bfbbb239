#pragma once
// Tiles that several clusters share. The cluster with the first k tile of one stores it; those with
// later ones leave their sums in the workspace, each in a slot of its own, and say so with a flag.
//
// The workspace's contents are undefined when a run begins, so what a flag has to become is a
// number that is new in each run, and that no memory has by chance. The warpgroup that has seen
// it resets the flag, so that a recorded launch can be repeated.
//
// Where K is split, every block leaves its sums, without a flag: a second launch adds them up.

#include <kzoo/cuda.hpp>
#include <kzoo/warpgroup.hpp>

#include <cstddef>
#include <cstdint>

#include <hopper/common/run_numbers.hpp>
#include <hopper/common/stream_k_schedule.hpp>

namespace persistent {

template <class Tile>
struct partial_sums {
  static constexpr int kVec4s = Tile::kAccumulators / 4;
  static constexpr std::size_t kSlot = std::size_t{kVec4s} * kzoo::kWarpgroup * sizeof(float4);

  unsigned long long* flags;  // for each warpgroup of each block: one flag, one slot
  float4* slots;
  unsigned long long written;  // what a flag becomes

  static std::size_t bytes(const schedule<Tile>& work) {
    return work.shares() || work.splits > 1 ? flag_bytes(work) + warpgroups(work) * kSlot : 0;
  }
  static partial_sums in(void* workspace, const schedule<Tile>& work, unsigned long long written) {
    auto* bytes = static_cast<unsigned char*>(workspace);
    return {reinterpret_cast<unsigned long long*>(bytes),
            bytes == nullptr ? nullptr : reinterpret_cast<float4*>(bytes + flag_bytes(work)),
            written};
  }

  // Leaves the calling warpgroup's sums, of a tile that another cluster stores, in its slot, and
  // then sets its flag.
  __device__ __forceinline__ void leave(const float (&acc)[Tile::kAccumulators],
                                        int warpgroup) const {
    const int number = own(static_cast<int>(blockIdx.x), warpgroup);
    write(acc, warpgroup);
    __threadfence();
    kzoo::named_barrier<kzoo::kWarpgroup>(1 + warpgroup);  // all have written
    if (threadIdx.x % kzoo::kWarpgroup == 0) atomicExch(flags + number, written);
  }

  // The same without a flag.
  __device__ __forceinline__ void write(const float (&acc)[Tile::kAccumulators],
                                        int warpgroup) const {
    float4* to = slot(own(static_cast<int>(blockIdx.x), warpgroup));
#pragma unroll
    for (int v = 0; v < kVec4s; ++v) {
      to[v * kzoo::kWarpgroup] =
          make_float4(acc[4 * v], acc[4 * v + 1], acc[4 * v + 2], acc[4 * v + 3]);
    }
  }

  // Waits for the other clusters' sums of a tile and adds them to acc, in a fixed order: those of
  // the next cluster first.
  __device__ __forceinline__ void collect(const schedule<Tile>& work, int shared_tile,
                                          int warpgroup, float (&acc)[Tile::kAccumulators]) const {
    const int end = (shared_tile + 1) * work.k_tiles,
              rank = static_cast<int>(blockIdx.x) % Tile::kCluster;
    for (int c = work.cluster() + 1; c < work.clusters && work.begin(c) < end; ++c) {
      const int number = own(c * Tile::kCluster + rank, warpgroup);
      if (threadIdx.x % kzoo::kWarpgroup == 0) {
        while (atomicCAS(flags + number, written, 0ULL) != written) __nanosleep(100);
        __threadfence();
      }
      kzoo::named_barrier<kzoo::kWarpgroup>(1 + warpgroup);  // they are there
      const float4* from = slot(number);
#pragma unroll
      for (int v = 0; v < kVec4s; ++v) {
        const float4 part = __ldcg(from + v * kzoo::kWarpgroup);
        acc[4 * v] += part.x;
        acc[4 * v + 1] += part.y;
        acc[4 * v + 2] += part.z;
        acc[4 * v + 3] += part.w;
      }
    }
  }

 private:
  static std::size_t warpgroups(const schedule<Tile>& work) {
    return std::size_t{static_cast<unsigned>(work.blocks())} * Tile::kWarpgroups;
  }
  static std::size_t flag_bytes(const schedule<Tile>& work) {
    constexpr std::size_t kAlignment = 256;
    return (warpgroups(work) * sizeof(unsigned long long) + kAlignment - 1) / kAlignment *
           kAlignment;
  }
  static __device__ __forceinline__ int own(int block, int warpgroup) {
    return block * Tile::kWarpgroups + warpgroup;
  }
  __device__ __forceinline__ float4* slot(int number) const {
    return slots + std::size_t(number) * kVec4s * kzoo::kWarpgroup + threadIdx.x % kzoo::kWarpgroup;
  }
};

}  // namespace persistent
