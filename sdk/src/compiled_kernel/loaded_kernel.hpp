#pragma once
// A kernel of a cubin, fatbin or PTX, loaded and ready to be launched for one problem.

#include <kzoo/manifest/launch_plan.hpp>

#include <cuda_runtime.h>

#include <memory>
#include <string>
#include <vector>

namespace kzoo::manifest {

class loaded_kernel {
 public:
  // Loads it on the current device. The manifest and `kernels` must outlive this. Throws
  // kzoo::error: KZOO_UNAVAILABLE if the file has no code for the device, KZOO_ERROR if it has no
  // such kernel or its parameters differ.
  loaded_kernel(const kernel_manifest& m, const kernel_variant& v, const std::string& kernels,
                const kzoo_problem& p, const kzoo_device& d);

  // Enqueues it. Throws kzoo::error(KZOO_LAUNCH_FAILED).
  void launch(const kzoo_arguments& args) const;

 private:
  void check_parameters(const std::string& file) const;
  void allow_what_it_needs() const;
  const void* function() const { return static_cast<const void*>(kernel_); }

  struct unload {
    void operator()(CUlib_st* library) const { cudaLibraryUnload(library); }
  };
  const kernel_manifest& manifest_;
  const kernel_variant& variant_;
  kzoo_problem problem_;
  launch_plan plan_;
  std::unique_ptr<CUlib_st, unload> library_;
  cudaKernel_t kernel_ = nullptr;
};

}  // namespace kzoo::manifest
