// The simulated part of CUDA's cooperative_groups: the block, and its tiles of up to 32 threads.
#pragma once

#include <kzoo/sim/warp.hpp>

namespace cooperative_groups {

class thread_block {
 public:
  static void sync(kzoo::sim::here where = kzoo::sim::here::current()) { __syncthreads(where); }
  static unsigned thread_rank() { return kzoo::sim::self().linear; }
  static unsigned num_threads() {
    const dim3& d = kzoo::sim::self().block_dim;
    return d.x * d.y * d.z;
  }
  static unsigned size() { return num_threads(); }
  static dim3 group_index() { return kzoo::sim::self().block_idx; }
  static dim3 thread_index() { return kzoo::sim::self().thread_idx; }
  static dim3 group_dim() { return kzoo::sim::self().block_dim; }
  static dim3 dim_threads() { return kzoo::sim::self().block_dim; }
};

inline thread_block this_thread_block() { return {}; }

// `kSize` consecutive threads: a power of two.
template <unsigned kSize, class Parent = void>
class thread_block_tile {
  static_assert(kSize > 0 && kSize <= 32 && (kSize & (kSize - 1)) == 0,
                "the simulator's tiles have 1, 2, 4, 8, 16 or 32 threads");
  using here = kzoo::sim::here;

 public:
  static void sync(here where = here::current()) { __syncwarp(mask(), where); }
  static constexpr unsigned size() { return kSize; }
  static constexpr unsigned num_threads() { return kSize; }
  static unsigned thread_rank() { return kzoo::sim::self().linear % kSize; }
  static unsigned meta_group_rank() { return kzoo::sim::self().linear / kSize; }
  static unsigned meta_group_size() { return (thread_block::size() + kSize - 1) / kSize; }

  template <class T>
  T shfl(T value, int source, here where = here::current()) const {
    return __shfl_sync(mask(), value, source, kSize, where);
  }
  template <class T>
  T shfl_up(T value, unsigned delta, here where = here::current()) const {
    return __shfl_up_sync(mask(), value, delta, kSize, where);
  }
  template <class T>
  T shfl_down(T value, unsigned delta, here where = here::current()) const {
    return __shfl_down_sync(mask(), value, delta, kSize, where);
  }
  template <class T>
  T shfl_xor(T value, unsigned lane_mask, here where = here::current()) const {
    return __shfl_xor_sync(mask(), value, static_cast<int>(lane_mask), kSize, where);
  }
  int any(int predicate, here where = here::current()) const {
    return __any_sync(mask(), predicate, where);
  }
  int all(int predicate, here where = here::current()) const {
    return __all_sync(mask(), predicate, where);
  }
  unsigned ballot(int predicate, here where = here::current()) const {
    return __ballot_sync(mask(), predicate, where) >> first_lane();
  }

 private:
  static unsigned first_lane() { return kzoo::sim::lane() & ~(kSize - 1); }
  static unsigned mask() { return (~0u >> (32 - kSize)) << first_lane(); }
};

template <unsigned kSize, class Parent>
thread_block_tile<kSize, Parent> tiled_partition(const Parent& /*block*/) {
  return {};
}

template <class Group>
void sync(const Group& group, kzoo::sim::here where = kzoo::sim::here::current()) {
  group.sync(where);
}

}  // namespace cooperative_groups
