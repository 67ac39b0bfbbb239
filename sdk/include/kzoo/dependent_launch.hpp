#pragma once
// A launch that overlaps the end of the one before it (sm_90, "programmatic dependent launch"):
// launch_config::dependent. Its blocks may start as soon as all blocks of the launch before have
// called release_dependents() or ended; they wait_for_previous() before they touch what it writes.
// Device code. In the simulator a launch has ended before the next one starts, so that both do
// nothing. Source: PTX ISA, "griddepcontrol".

#include <kzoo/cuda.hpp>

#if defined(__CUDACC__) || !defined(KZOO_REAL_CUDA)  // device code: not in a host file for cuda

namespace kzoo {

// Waits until the launch before has ended and its writes are visible. Returns at once in a launch
// that is not dependent.
__device__ __forceinline__ void wait_for_previous() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Nothing that this block still does keeps a dependent launch from starting.
__device__ __forceinline__ void release_dependents() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace kzoo

#endif
