// NVIDIA's own library: the baseline. Host code only. cuBLAS is column-major, and a row-major
// matrix read column by column is its transpose, so instead of C = A B it computes C^T = B^T A^T,
// with the operands swapped and nothing moved in memory.

#include <kzoo/plugin.hpp>

#include <cublas_v2.h>

#include <memory>
#include <string>

namespace {

void check(cublasStatus_t status, const char* function, kzoo_status code = KZOO_ERROR) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw kzoo::error(code, std::string(function) + ": " + cublasGetStatusName(status) + " (" +
                              cublasGetStatusString(status) + ")");
}

// Created once per problem, outside any timing: it initialises the library on the device.
cublasHandle_t create_handle() {
  int devices = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&devices); status != cudaSuccess) {
    cudaGetLastError();  // reported here; must not appear as the failure of a later call
    throw kzoo::error(KZOO_UNAVAILABLE,
                      std::string("cuBLAS needs a GPU: ") + cudaGetErrorString(status));
  }
  cublasHandle_t handle = nullptr;
  const cublasStatus_t status = cublasCreate(&handle);
  const bool no_memory = status == CUBLAS_STATUS_ALLOC_FAILED;
  check(status, "cublasCreate", no_memory ? KZOO_ERROR : KZOO_UNAVAILABLE);
  return handle;
}

struct destroy_handle {
  void operator()(cublasHandle_t handle) const { cublasDestroy(handle); }
};

template <class T>
constexpr cudaDataType_t kDataType = CUDA_R_32F;
template <>
constexpr cudaDataType_t kDataType<__half> = CUDA_R_16F;
template <>
constexpr cudaDataType_t kDataType<__nv_bfloat16> = CUDA_R_16BF;

// C = A B for matrices of T, with fp32 accumulators for all of them.
template <class T, cublasComputeType_t kCompute>
class cublas {
  static constexpr bool kTf32 = kCompute == CUBLAS_COMPUTE_32F_FAST_TF32;
  static constexpr bool kBf16 = kDataType<T> == CUDA_R_16BF;

 public:
  using types = kzoo::types<T>;
  using layouts = kzoo::every_layout;
  static constexpr kzoo_precision precision =
      kTf32 ? KZOO_COMPUTE_TF32 : kzoo::element_traits<T>::precision;
  static constexpr unsigned compute_capability = kTf32 || kBf16 ? 80 : 0;

  // What cuBLAS's manual recommends: 32 MiB from Hopper on, 4 MiB before. Handing it over keeps
  // cuBLAS from allocating memory of its own.
  static std::size_t workspace_bytes(const kzoo_problem&, const kzoo_device& d) {
    return (d.compute_capability >= 90 ? std::size_t{32} : std::size_t{4}) << 20;
  }

  cublas(const kzoo_problem& p, const kzoo_device& d)
      : handle_(create_handle()), workspace_bytes_(workspace_bytes(p, d)) {
    // By default partial sums over K may be rounded to the type of C before they are added up,
    // which is not the fp32 that the variants declare.
    constexpr int kMode = CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    check(cublasSetMathMode(handle_.get(), static_cast<cublasMath_t>(kMode)), "cublasSetMathMode");
  }

  template <kzoo::layout kLayout>
  void run(const kzoo::gemm<T, kLayout>& g, const kzoo_arguments& args) const {
    constexpr auto kOpA = kzoo::is_a_transposed(kLayout) ? CUBLAS_OP_T : CUBLAS_OP_N;
    constexpr auto kOpB = kzoo::is_b_transposed(kLayout) ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasHandle_t handle = handle_.get();
    check(cublasSetStream(handle, static_cast<cudaStream_t>(args.stream)), "cublasSetStream");
    // Setting the stream takes the workspace away again, so it follows.
    check(cublasSetWorkspace(handle, args.workspace, workspace_bytes_), "cublasSetWorkspace");
    check(cublasGemmEx(handle, kOpB, kOpA, g.n, g.m, g.k,                     //
                       &g.alpha, g.b, kDataType<T>, static_cast<int>(g.ldb),  //
                       g.a, kDataType<T>, static_cast<int>(g.lda),            //
                       &g.beta, g.c, kDataType<T>, static_cast<int>(g.ldc),   //
                       kCompute, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
  }

 private:
  std::unique_ptr<cublasContext, destroy_handle> handle_;
  std::size_t workspace_bytes_;
};

}  // namespace

KZOO_PLUGIN("cublas", "NVIDIA cuBLAS",
            kzoo::variant<cublas<float, CUBLAS_COMPUTE_32F>>("fp32", "cublasGemmEx in true fp32"),
            kzoo::variant<cublas<float, CUBLAS_COMPUTE_32F_FAST_TF32>>(
                "tf32", "the same on tensor cores: inputs rounded to TF32, fp32 accumulators"),
            kzoo::variant<cublas<__half, CUBLAS_COMPUTE_32F>>(
                "f16", "fp16 matrices on tensor cores, fp32 accumulators"),
            kzoo::variant<cublas<__nv_bfloat16, CUBLAS_COMPUTE_32F>>(
                "bf16", "bf16 matrices on tensor cores, fp32 accumulators"));
