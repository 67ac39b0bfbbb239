#pragma once
// mbarrier (sm_90): a barrier in shared memory that counts arrivals of threads and bytes of copies.
// A phase ends when both have come; phases are told apart by their parity, 0 for the first. Device
// code. Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
//
//   __shared__ kzoo::mbarrier full;
//   if (threadIdx.x == 0) {
//     full.init(1);                      // one arrival ends a phase
//     kzoo::fence_mbarrier_init();
//   }
//   __syncthreads();
//   if (threadIdx.x == 0) {
//     full.arrive_and_expect(bytes);     // the one arrival; the phase also waits for the bytes
//     kzoo::tma_load(map, tile, row, col, full);
//   }
//   full.wait(0);                        // phase 0 has ended: the tile is there
//
// Compiled with KZOO_BOUNDED_WAITS defined, a wait that lasts for seconds ends the kernel with an
// error: for a kernel under development, whose deadlock would otherwise hang the GPU. Not for
// timing: with it, ptxas does not use the registers that setmaxnreg adds, and spills.
//
// Not simulated: on the cpu all of these end the launch with an error.

#include <kzoo/cuda.hpp>
#include <kzoo/detail/not_simulated.hpp>
#include <kzoo/detail/shared_address.hpp>

#include <cstdint>

#if defined(__CUDACC__) || !defined(KZOO_REAL_CUDA)  // device code: not in a host file for cuda

namespace kzoo {

class mbarrier {
 public:
  // One thread calls this, then fence_mbarrier_init(), before any other uses the barrier.
  __device__ __forceinline__ void init(unsigned arrivals) {
#if defined(__CUDACC__)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals)
                 : "memory");
#else
    detail::not_simulated("mbarrier", arrivals);
#endif
  }

  __device__ __forceinline__ void arrive() {
#if defined(__CUDACC__)
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory");
#else
    detail::not_simulated("mbarrier");
#endif
  }

  // The same at this barrier of another block of the cluster: at the same place in its shared
  // memory. `block` is its cluster_rank(), and may be the caller's own.
  __device__ __forceinline__ void arrive_in(unsigned block) {
#if defined(__CUDACC__)
    asm volatile(
        "{\n"
        ".reg .b32 remote;\n"
        "mapa.shared::cluster.u32 remote, %0, %1;\n"
        "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
        "}" ::"r"(address()),
        "r"(block)
        : "memory");
#else
    detail::not_simulated("mbarrier", block);
#endif
  }

  // Arrives, and makes the phase wait for so many bytes of copies that name this barrier.
  __device__ __forceinline__ void arrive_and_expect(unsigned bytes) {
#if defined(__CUDACC__)
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()),
                 "r"(bytes)
                 : "memory");
#else
    detail::not_simulated("mbarrier", bytes);
#endif
  }

  // Waits until the phase of this parity has ended: the running one, or the one before it.
  __device__ __forceinline__ void wait(unsigned parity) {
#if defined(__CUDACC__)
#if defined(KZOO_BOUNDED_WAITS)
    for (int tries = 0; !try_wait(parity); ++tries) {
      if (tries > 1000000) __trap();
    }
#else
    while (!try_wait(parity)) {
    }
#endif
#else
    detail::not_simulated("mbarrier", parity);
#endif
  }

 private:
#if defined(__CUDACC__)
  __device__ __forceinline__ unsigned address() const { return shared_address(this); }

  // Sleeps for a time that the hardware sets, at most until the phase has ended.
  __device__ __forceinline__ bool try_wait(unsigned parity) const {
    unsigned done = 0;
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
        "selp.u32 %0, 1, 0, p;\n"
        "}"
        : "=r"(done)
        : "r"(address()), "r"(parity)
        : "memory");
    return done != 0;
  }
#endif

  std::uint64_t state_;  // opaque
};

// After init: other threads, blocks of the cluster and TMA see initialised barriers, once they have
// met the calling thread at a barrier of the block or of the cluster.
__device__ __forceinline__ void fence_mbarrier_init() {
#if defined(__CUDACC__)
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
  detail::not_simulated("mbarrier");
#endif
}

// What this thread has written to shared memory may be read by wgmma and TMA: by the "async proxy".
// Each writing thread calls it, before the barrier at which it meets those who start the reads.
__device__ __forceinline__ void fence_async_proxy() {
#if defined(__CUDACC__)
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
  detail::not_simulated("fence.proxy.async");
#endif
}

}  // namespace kzoo

#endif
