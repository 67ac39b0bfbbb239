#pragma once
// Clusters (sm_90): blocks that run at the same time on neighbouring SMs and reach each other's
// shared memory. kzoo::launch makes them: launch_config::cluster. Device code. Not simulated: on
// the cpu these end the launch with an error. Source: PTX ISA, "barrier.cluster",
// "%cluster_ctarank", "mapa".

#include <kzoo/cuda.hpp>
#include <kzoo/detail/not_simulated.hpp>
#include <kzoo/detail/shared_address.hpp>

#if defined(__CUDACC__) || !defined(KZOO_REAL_CUDA)  // device code: not in a host file for cuda

namespace kzoo {

// The calling block's number in its cluster, x fastest.
__device__ __forceinline__ unsigned cluster_rank() {
#if defined(__CUDACC__)
  unsigned rank = 0;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#else
  detail::not_simulated("clusters");
#endif
}

// Waits for all threads of all blocks of the cluster. A block must not end while another may still
// reach into its shared memory: kernels that do so end with this.
__device__ __forceinline__ void cluster_sync() {
#if defined(__CUDACC__)
  asm volatile(
      "barrier.cluster.arrive.release.aligned;\n"
      "barrier.cluster.wait.acquire.aligned;" ::
          : "memory");
#else
  detail::not_simulated("clusters");
#endif
}

// The float at the address of `shared`, which is in the caller's shared memory, in that of the
// cluster's block `rank`. cluster_sync() comes between its store there and this, and another before
// that block ends.
__device__ __forceinline__ float load_of_block(const float* shared, unsigned rank) {
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
  detail::not_simulated("clusters", shared, rank);
#endif
}

}  // namespace kzoo

#endif
