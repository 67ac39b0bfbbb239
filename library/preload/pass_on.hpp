#pragma once
// A call that cuBLAS is to compute.

#include "real_cublas.hpp"
#include "takeover.hpp"

#include <cublas_v2.h>

#include <cstdio>

namespace kzoo::preload {

// cuBLAS's function of that name, with the arguments of the one that was called.
template <class... Argument>
cublasStatus_t pass_on(void* function, const char* name, Argument... arguments) {
  using same = cublasStatus_t (*)(Argument...);
  const inside scope("cuBLAS's own calls");
  if (function != nullptr) return reinterpret_cast<same>(function)(arguments...);
  std::fprintf(stderr, "kzoo_blas: there is no cuBLAS with %s in this process\n", name);
  return CUBLAS_STATUS_NOT_INITIALIZED;
}

}  // namespace kzoo::preload
