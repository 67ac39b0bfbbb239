#pragma once
// mbarrier (sm_90): a barrier in shared memory that counts arrivals of threads and bytes of copies.
// A phase ends when both are complete. Its parity identifies it: 0 for the first phase. Device
// code. Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
//
//   __shared__ kzoo::mbarrier full;
//   if (threadIdx.x == 0) {
//     full.init(1);                      // one arrival ends a phase
//     kzoo::fence_mbarrier_init();
//   }
//   __syncthreads();
//   if (threadIdx.x == 0) {
//     full.arrive_and_expect(bytes);     // the arrival; the phase also waits for the bytes
//     kzoo::tma_load(map, tile, row, col, full);
//   }
//   full.wait(0);                        // phase 0 has ended: the tile has arrived
//
// With KZOO_BOUNDED_WAITS defined, a wait of several seconds ends the kernel with an error, for
// kernels under development whose deadlock would hang the GPU. Not for timing: ptxas then spills
// instead of using the registers that setmaxnreg adds.

#include <kzoo/cuda.hpp>
#include <kzoo/detail/here.hpp>
#include <kzoo/detail/shared_address.hpp>

#include <cstdint>

#if !defined(KZOO_REAL_CUDA)
#include <kzoo/sim/sm90/barriers.hpp>
#endif

#if defined(__CUDACC__) || !defined(KZOO_REAL_CUDA)  // device code: not in a host file for cuda

namespace kzoo {

// The barrier, in shared memory. All threads of a block, and copies, may use it at the same time.
class mbarrier {
 public:
  // One thread calls this, then fence_mbarrier_init(), before any other uses the barrier.
  __device__ __forceinline__ void init(unsigned arrivals KZOO_AND_HERE) {
#if defined(__CUDACC__)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals)
                 : "memory");
#else
    sim::sm90::mbarrier_init(state_, arrivals, where);
#endif
  }

  // This thread arrives. It does not wait.
  __device__ __forceinline__ void arrive(KZOO_HERE) {
#if defined(__CUDACC__)
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory");
#else
    sim::sm90::mbarrier_arrive(state_, 0, where);
#endif
  }

  // Arrives at this barrier of another block of the cluster, at the same address in its shared
  // memory. `block`: its cluster_rank(), which may be the caller's.
  __device__ __forceinline__ void arrive_in(unsigned block KZOO_AND_HERE) {
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
    sim::sm90::mbarrier_arrive_in(state_, block, where);
#endif
  }

  // Arrives, and makes the phase wait for `bytes` of copies that name this barrier.
  __device__ __forceinline__ void arrive_and_expect(unsigned bytes KZOO_AND_HERE) {
#if defined(__CUDACC__)
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()),
                 "r"(bytes)
                 : "memory");
#else
    sim::sm90::mbarrier_arrive(state_, bytes, where);
#endif
  }

  // Waits until the phase of this parity has ended: the current phase, or the previous one.
  __device__ __forceinline__ void wait(unsigned parity KZOO_AND_HERE) {
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
    sim::sm90::mbarrier_wait(state_, parity, where);
#endif
  }

#if !defined(KZOO_REAL_CUDA)
  std::uint64_t& simulated() { return state_; }
#endif

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

// After init: makes initialised barriers visible to other threads, blocks of the cluster and TMA,
// once they have met the calling thread at a barrier of the block or cluster.
__device__ __forceinline__ void fence_mbarrier_init() {
#if defined(__CUDACC__)
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#else
  sim::sm90::fence_mbarrier_init();
#endif
}

// Makes this thread's writes to shared memory visible to wgmma and TMA (the "async proxy"). Each
// writing thread calls it before the barrier at which it meets the threads that start the reads.
__device__ __forceinline__ void fence_async_proxy() {
#if defined(__CUDACC__)
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#else
  sim::sm90::fence_async_proxy();
#endif
}

}  // namespace kzoo

#endif
