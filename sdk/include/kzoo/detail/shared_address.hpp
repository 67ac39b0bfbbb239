#pragma once
#include <kzoo/cuda.hpp>
#include <kzoo/detail/not_simulated.hpp>

#if defined(__CUDACC__) || !defined(KZOO_REAL_CUDA)  // device code: not in a host file for cuda

namespace kzoo {

// PTX's address of a pointer into shared memory.
__device__ __forceinline__ unsigned shared_address(const void* shared) {
#if defined(__CUDACC__)
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
#else
  detail::not_simulated("addresses of shared memory", shared);
#endif
}

}  // namespace kzoo

#endif
