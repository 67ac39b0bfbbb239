#pragma once
// Which products libkzoo computes in place of cuBLAS.

#include "asked_product.hpp"
#include "blas_call.hpp"

#include <cublas_v2.h>

#include <cstddef>
#include <optional>

namespace kzoo::preload {

// What cuBLAS is to return, if libkzoo has taken the call; nothing if cuBLAS is to compute it. That
// is so wherever libkzoo might do something else than the program asks for.
std::optional<cublasStatus_t> take(const blas_call& call);

// Is a recording asked for, and is this not a call that cuBLAS or a kernel makes itself?
bool is_recorded();
void record(const asked_product& product);

// While it lives, this thread's calls are those of cuBLAS or of a kernel, and not the program's.
class inside {
 public:
  explicit inside(const char* whose);
  ~inside();
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;

 private:
  const char* before_;
};

// What the program does with a handle's workspace, which libkzoo then uses too.
void set_workspace(cublasHandle_t handle, void* workspace, std::size_t bytes);
void forget_workspace(cublasHandle_t handle);

}  // namespace kzoo::preload
