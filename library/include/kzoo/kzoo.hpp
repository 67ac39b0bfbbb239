#pragma once
// libkzoo for C++: an owning handle, and kzoo::error instead of codes. kzoo.h documents the calls.

#include <kzoo/kzoo.h>
#include <kzoo/error.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace kzoo {

// kzoo_options that owns its strings.
struct handle_options {
  kzoo_device_kind device = KZOO_CUDA;           // or KZOO_CPU
  kzoo_precision precision = KZOO_COMPUTE_FP32;  // or KZOO_COMPUTE_FP32_SPLIT
  std::string plugins{};                         // "": default, as of the next three
  std::string kernels{};                         // by name, separated by commas
  std::string tuned{};                           // a kzoo.tuned/1 file
  std::string declined{};                        // plugins never to load
  bool nondeterministic = false;                 // also kernels that may round differently
  std::uint64_t cached_problems = 0;             // for each stream; 0: 256
};

// A handle that destroys itself. Its calls throw kzoo::error with the code of kzoo.h and the
// sentence of kzoo_last_error(). Threads may share it.
class handle {
 public:
  // Loads the plugins. Throws kzoo::error.
  explicit handle(const handle_options& options = {}) {
    const auto text = [](const std::string& s) { return s.empty() ? nullptr : s.c_str(); };
    kzoo_options all{};
    all.struct_size = sizeof all;
    all.device = options.device;
    all.precision = options.precision;
    all.plugins = text(options.plugins);
    all.kernels = text(options.kernels);
    all.tuned = text(options.tuned);
    all.declined = text(options.declined);
    all.nondeterministic = options.nondeterministic ? 1 : 0;
    all.cached_problems = options.cached_problems;
    kzoo_handle created = nullptr;
    check(kzoo_create(&created, &all));
    handle_.reset(created);
  }

  // The handle for calls of kzoo.h. It stays this object's.
  kzoo_handle get() const { return handle_.get(); }

  // kzoo_sgemm, with alpha and beta by value.
  void sgemm(kzoo_operation transa, kzoo_operation transb, std::int64_t m, std::int64_t n,
             std::int64_t k, float alpha, const float* a, std::int64_t lda, const float* b,
             std::int64_t ldb, float beta, float* c, std::int64_t ldc,
             void* stream = nullptr) const {
    check(
        kzoo_sgemm(get(), transa, transb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc, stream));
  }

  // sgemm with row-major matrices.
  void sgemm_row_major(kzoo_operation transa, kzoo_operation transb, std::int64_t m, std::int64_t n,
                       std::int64_t k, float alpha, const float* a, std::int64_t lda,
                       const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc,
                       void* stream = nullptr) const {
    check(kzoo_sgemm_row_major(get(), transa, transb, m, n, k, &alpha, a, lda, b, ldb, &beta, c,
                               ldc, stream));
  }

  // kzoo_sgemm_strided_batched, with alpha and beta by value.
  void sgemm_strided_batched(kzoo_operation transa, kzoo_operation transb, std::int64_t m,
                             std::int64_t n, std::int64_t k, float alpha, const float* a,
                             std::int64_t lda, std::int64_t stride_a, const float* b,
                             std::int64_t ldb, std::int64_t stride_b, float beta, float* c,
                             std::int64_t ldc, std::int64_t stride_c, std::int64_t batch,
                             void* stream = nullptr) const {
    check(kzoo_sgemm_strided_batched(get(), transa, transb, m, n, k, &alpha, a, lda, stride_a, b,
                                     ldb, stride_b, &beta, c, ldc, stride_c, batch, stream));
  }

  // kzoo_gemm_ex.
  void gemm_ex(kzoo_operation transa, kzoo_operation transb, std::int64_t m, std::int64_t n,
               std::int64_t k, const void* alpha, const void* a, kzoo_type type_a, std::int64_t lda,
               const void* b, kzoo_type type_b, std::int64_t ldb, const void* beta, void* c,
               kzoo_type type_c, std::int64_t ldc, const kzoo_call& call) const {
    check(kzoo_gemm_ex(get(), transa, transb, m, n, k, alpha, a, type_a, lda, b, type_b, ldb, beta,
                       c, type_c, ldc, &call));
  }

 private:
  struct destroy {
    void operator()(kzoo_handle h) const { kzoo_destroy(h); }
  };

  static void check(kzoo_status status) {
    if (status != KZOO_OK) throw error(status, kzoo_last_error());
  }

  std::unique_ptr<kzoo_context, destroy> handle_;
};

}  // namespace kzoo
