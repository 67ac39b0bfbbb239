// Asynchronous copies from global to shared memory (cp.async, sm_80), without registers: the thread
// continues meanwhile. Device code.
//
//   kzoo::copy_async<16>(&tile[i], &g.a[j], inside);   // as often as needed
//   kzoo::commit_group();                              // groups the copies since the last group
//   ...
//   kzoo::wait_group<1>();  // this thread's groups have arrived, except for the youngest
//   __syncthreads();        // so have the groups of all other threads
//
// The simulator copies when a thread waits for the group. Until then the destination contains NaN.
// Before sm_80 a thread copies at once, through registers.
#pragma once

#include <kzoo/cuda.hpp>
#include <kzoo/detail/here.hpp>

#include <type_traits>

#if !defined(KZOO_REAL_CUDA)
#include <kzoo/sim/async_copy.hpp>
#endif

#if defined(KZOO_XRAY)
namespace kzoo::sim {
// Records the copy as asynchronous in an analysed build (docs/xray.md).
void record_async_copy(void* shared, const void* global, unsigned bytes, bool inside,
                       std::source_location where);
}  // namespace kzoo::sim
#endif

namespace kzoo {

// Copies kBytes (4, 8 or 16) from global to shared memory, both aligned to kBytes. If `inside` is
// false, reads nothing, allows any `global`, and writes zeros.
template <int kBytes>
__device__ __forceinline__ void copy_async(void* shared, const void* global,
                                           bool inside = true KZOO_AND_HERE) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16, "cp.async copies 4, 8 or 16 bytes");
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
  using word =
      std::conditional_t<kBytes == 4, unsigned, std::conditional_t<kBytes == 8, uint2, uint4>>;
  *static_cast<word*>(shared) = inside ? *static_cast<const word*>(global) : word{};
#elif defined(__CUDACC__)
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const int read = inside ? kBytes : 0;  // the rest of the destination is filled with zeros
  if constexpr (kBytes == 16) {          // bypasses L1: a block reads a tile once
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(global),
                 "r"(read)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(global),
                 "n"(kBytes), "r"(read)
                 : "memory");
  }
#elif defined(KZOO_XRAY)
  sim::record_async_copy(shared, global, kBytes, inside, where);
#else
  sim::copy_async(shared, global, kBytes, inside, where);
#endif
}

// Groups this thread's copies since its last group. A group may be empty.
__device__ __forceinline__ void commit_group() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#elif defined(__CUDACC__)
  asm volatile("cp.async.commit_group;" ::: "memory");
#else
  sim::commit_copies();
#endif
}

// Waits until all of this thread's groups have arrived, except for the youngest kPending.
template <int kPending>
__device__ __forceinline__ void wait_group() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#elif defined(__CUDACC__)
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#else
  sim::wait_for_copies(kPending);
#endif
}

}  // namespace kzoo
