#pragma once
#include <kzoo/cuda.hpp>
#include <kzoo/detail/here.hpp>

#if !defined(KZOO_REAL_CUDA)
#include <kzoo/sim/sm90/barriers.hpp>
#endif

#if defined(__CUDACC__) || !defined(KZOO_REAL_CUDA)  // device code: not in a host file for cuda

namespace kzoo {

// PTX's address of a pointer into shared memory.
__device__ __forceinline__ unsigned shared_address(const void* shared KZOO_AND_HERE) {
#if defined(__CUDACC__)
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
#else
  return sim::sm90::address_in_shared(shared, where);
#endif
}

}  // namespace kzoo

#endif
