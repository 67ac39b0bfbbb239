#pragma once
// Barriers for some warps of a block, and registers that move between warpgroups (sm_90a). A
// warpgroup is four consecutive warps that begin at a multiple of four. Device code. Source: PTX
// ISA, "barrier" and "setmaxnreg".

#include <kzoo/cuda.hpp>
#include <kzoo/detail/here.hpp>

#if !defined(KZOO_REAL_CUDA)
#include <kzoo/sim/sm90/barriers.hpp>
#endif

#if defined(__CUDACC__) || !defined(KZOO_REAL_CUDA)  // device code: not in a host file for cuda

namespace kzoo {

inline constexpr int kWarpgroup = 128;  // threads

// Waits for all kThreads threads (whole warps) that call it with the same `id`, 1 to 15.
// __syncthreads() uses barrier 0.
template <int kThreads>
__device__ __forceinline__ void named_barrier(int id KZOO_AND_HERE) {
  static_assert(kThreads % 32 == 0, "whole warps meet at a barrier");
#if defined(__CUDACC__)
  asm volatile("barrier.sync.aligned %0, %1;" ::"r"(id), "n"(kThreads) : "memory");
#else
  sim::sm90::named_barrier(id, kThreads, true, false, where);
#endif
}

// Arrives without waiting, for a warp whose work the others wait for.
template <int kThreads>
__device__ __forceinline__ void named_barrier_arrive(int id KZOO_AND_HERE) {
  static_assert(kThreads % 32 == 0, "whole warps meet at a barrier");
#if defined(__CUDACC__)
  asm volatile("barrier.arrive.aligned %0, %1;" ::"r"(id), "n"(kThreads) : "memory");
#else
  sim::sm90::named_barrier(id, kThreads, false, false, where);
#endif
}

// Like named_barrier(); returns true if `condition` is true for any of the threads.
template <int kThreads>
__device__ __forceinline__ bool named_barrier_or(int id, bool condition KZOO_AND_HERE) {
  static_assert(kThreads % 32 == 0, "whole warps meet at a barrier");
#if defined(__CUDACC__)
  int any = 0;
  asm volatile(
      "{\n"
      ".reg .pred mine, all;\n"
      "setp.ne.b32 mine, %1, 0;\n"
      "barrier.red.or.pred.aligned all, %2, %3, mine;\n"
      "selp.b32 %0, 1, 0, all;\n"
      "}"
      : "=r"(any)
      : "r"(int(condition)), "r"(id), "n"(kThreads)
      : "memory");
  return any != 0;
#else
  return sim::sm90::named_barrier(id, kThreads, true, condition, where);
#endif
}

// Changes the registers per thread of the calling warpgroup. A kernel with
// __launch_bounds__(threads, 1) starts with equal numbers for all. Warpgroups that release
// registers make room for warpgroups that acquire them, which wait until there are enough.
template <int kRegisters>
__device__ __forceinline__ void release_registers(KZOO_HERE) {
  static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256,
                "setmaxnreg takes multiples of 8 from 24 to 256");
#if defined(__CUDACC__)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
#else
  sim::sm90::change_registers(kRegisters, false, where);
#endif
}
// All warps of a warpgroup call it, to have kRegisters per thread. Waits until they are free.
template <int kRegisters>
__device__ __forceinline__ void request_registers(KZOO_HERE) {
  static_assert(kRegisters % 8 == 0 && kRegisters >= 24 && kRegisters <= 256,
                "setmaxnreg takes multiples of 8 from 24 to 256");
#if defined(__CUDACC__)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
#else
  sim::sm90::change_registers(kRegisters, true, where);
#endif
}

}  // namespace kzoo

#endif
