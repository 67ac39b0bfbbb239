#pragma once
// Programmatic dependent launch (sm_90, launch_config::dependent): the launch overlaps the end of
// the previous launch. Its blocks may start once all blocks of the previous launch have called
// release_dependents() or ended. They call wait_for_previous() before they access its output.
// Device code. In the simulator launches do not overlap. Source: PTX ISA, "griddepcontrol".

#include <kzoo/cuda.hpp>

#if !defined(KZOO_REAL_CUDA)
#include <kzoo/sim/grid.hpp>
#endif

#if defined(__CUDACC__) || !defined(KZOO_REAL_CUDA)  // device code: not in a host file for cuda

namespace kzoo {

// Waits until the previous launch has ended and its writes are visible. Returns at once if the
// launch is not dependent.
__device__ __forceinline__ void wait_for_previous() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#elif !defined(KZOO_REAL_CUDA)
  sim::wait_for_previous();
#endif
}

// Lets dependent launches start before this block ends.
__device__ __forceinline__ void release_dependents() {
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace kzoo

#endif
