#pragma once
// Clusters (sm_90): blocks that run at the same time on neighbouring SMs and access each other's
// shared memory. Set launch_config::cluster for kzoo::launch. Device code. Source: PTX ISA,
// "barrier.cluster",
// "%cluster_ctarank", "mapa".

#include <kzoo/cuda.hpp>
#include <kzoo/detail/here.hpp>
#include <kzoo/detail/shared_address.hpp>
#include <kzoo/mbarrier.hpp>

#if !defined(KZOO_REAL_CUDA)
#include <kzoo/sim/sm90/barriers.hpp>
#endif

#if defined(__CUDACC__) || !defined(KZOO_REAL_CUDA)  // device code: not in a host file for cuda

namespace kzoo {

// The calling block's number in its cluster, x fastest.
__device__ __forceinline__ unsigned cluster_rank() {
#if defined(__CUDACC__)
  unsigned rank = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#else
  return sim::sm90::cluster_rank();
#endif
}

// Waits for all threads of the cluster. A block must not end while others may access its shared
// memory, so kernels with such accesses end with this call.
__device__ __forceinline__ void cluster_sync(KZOO_HERE) {
#if defined(__CUDACC__)
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
#else
  sim::sm90::cluster_sync(where);
#endif
}

// Reads the float at the address of `shared` (the caller's shared memory) in the shared memory of
// the cluster's block `rank`. Call cluster_sync() between the store and this load, and again before
// the other block ends.
__device__ __forceinline__ float load_of_block(const float* shared, unsigned rank KZOO_AND_HERE) {
#if defined(__CUDACC__)
  float value = 0;
  asm volatile(
      "{\n"
      ".reg .b32 there;\n"
      "mapa.shared::cluster.u32 there, %1, %2;\n"
      "ld.shared::cluster.f32 %0, [there];\n"
      "}"
      : "=f"(value)
      : "r"(shared_address(shared)), "r"(rank)
      : "memory");
  return value;
#else
  return sim::sm90::load_of_block(shared, rank, where);
#endif
}

// Stores at the address of `shared` (the caller's shared memory, a multiple of 16 bytes) in the
// shared memory of the cluster's block `rank`, and does not wait. The 16 bytes count towards the
// current phase of `arrived` in that block; who waits for it sees them, and that block must wait
// before it ends. Call cluster_sync() between the barrier's init() and this store. Source: PTX ISA,
// "st.async".
__device__ __forceinline__ void store_to_block(const float4& value, float* shared,
                                               mbarrier& arrived, unsigned rank KZOO_AND_HERE) {
#if defined(__CUDACC__)
  asm volatile(
      "{\n"
      ".reg .b32 there, barrier;\n"
      "mapa.shared::cluster.u32 there, %0, %2;\n"
      "mapa.shared::cluster.u32 barrier, %1, %2;\n"
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [there], {%3, %4, %5, %6},"
      " [barrier];\n"
      "}" ::"r"(shared_address(shared)),
      "r"(shared_address(&arrived)), "r"(rank), "f"(value.x), "f"(value.y), "f"(value.z),
      "f"(value.w)
      : "memory");
#else
  sim::sm90::store_to_block(&value, shared, sizeof value, arrived.simulated(), rank, where);
#endif
}

}  // namespace kzoo

#endif
