// NVIDIA's own library: the baseline. Host code only. cuBLAS is column-major, and a row-major
// matrix read column by column is its transpose, so instead of C = A B it computes C^T = B^T A^T,
// with the operands swapped and nothing moved in memory.

#include <kzoo/plugin.hpp>

#include <libraries/cublaslt/cublaslt.hpp>

#include <cublas_v2.h>

#include <memory>
#include <string>
#include <type_traits>

namespace {

using common::check;

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
template <>
constexpr cudaDataType_t kDataType<double> = CUDA_R_64F;

// What cublasGemmEx computes in, and what the ABI calls that for elements T.
template <class T, cublasComputeType_t kCompute>
constexpr kzoo_precision kPrecision =
    kCompute == CUBLAS_COMPUTE_32F_FAST_TF32 ? KZOO_COMPUTE_TF32
    : kCompute == CUBLAS_COMPUTE_16F         ? KZOO_COMPUTE_FP16_SUMS
                                             : kzoo::element_traits<T>::precision;

// C = A B for matrices of each of T.
template <cublasComputeType_t kCompute, class... T>
class cublas {
  static constexpr bool kBf16 = ((kDataType<typename kzoo::elements<T>::a> == CUDA_R_16BF) || ...);

 public:
  using types = kzoo::types<T...>;
  using layouts = kzoo::every_layout;
  static constexpr bool batches = true;
  template <class Of>
  static constexpr kzoo_precision precision_of = kPrecision<Of, kCompute>;
  static constexpr unsigned compute_capability =
      kCompute == CUBLAS_COMPUTE_32F_FAST_TF32 || kBf16 ? 80 : 0;

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

  template <class Of, kzoo::layout kLayout>
  void run(const kzoo::gemm<Of, kLayout>& g, const kzoo_arguments& args) const {
    using of = terms<kzoo::gemm<Of, kLayout>>;
    const typename of::scalar alpha(g.alpha), beta(g.beta);
    check(cublasGemmEx(handle_on(args), of::kOpB, of::kOpA, g.n, g.m, g.k,  //
                       &alpha, g.b, of::kB, static_cast<int>(g.ldb),        //
                       g.a, of::kA, static_cast<int>(g.lda),                //
                       &beta, g.c, of::kC, static_cast<int>(g.ldc),         //
                       kCompute, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
  }

  template <class Of, kzoo::layout kLayout>
  void run(const kzoo::gemm_batch<Of, kLayout>& batch, const kzoo_arguments& args) const {
    using of = terms<kzoo::gemm<Of, kLayout>>;
    const auto& g = batch.first;
    const typename of::scalar alpha(g.alpha), beta(g.beta);
    check(
        cublasGemmStridedBatchedEx(handle_on(args), of::kOpB, of::kOpA, g.n, g.m, g.k,            //
                                   &alpha, g.b, of::kB, static_cast<int>(g.ldb), batch.stride_b,  //
                                   g.a, of::kA, static_cast<int>(g.lda), batch.stride_a,          //
                                   &beta, g.c, of::kC, static_cast<int>(g.ldc), batch.stride_c,   //
                                   batch.count, kCompute, CUBLAS_GEMM_DEFAULT),
        "cublasGemmStridedBatchedEx");
  }

 private:
  // A product in cuBLAS's terms.
  template <class Gemm>
  struct terms {
    // alpha and beta are of the type that is computed in.
    using scalar =
        std::conditional_t<kCompute == CUBLAS_COMPUTE_16F, __half, typename Gemm::accumulator_type>;
    static constexpr auto kOpA = Gemm::kATransposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    static constexpr auto kOpB = Gemm::kBTransposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    static constexpr auto kA = kDataType<typename Gemm::a_type>;
    static constexpr auto kB = kDataType<typename Gemm::b_type>;
    static constexpr auto kC = kDataType<typename Gemm::c_type>;
  };

  cublasHandle_t handle_on(const kzoo_arguments& args) const {
    cublasHandle_t handle = handle_.get();
    check(cublasSetStream(handle, static_cast<cudaStream_t>(args.stream)), "cublasSetStream");
    // Setting the stream takes the workspace away again, so it follows.
    check(cublasSetWorkspace(handle, args.workspace, workspace_bytes_), "cublasSetWorkspace");
    return handle;
  }

  std::unique_ptr<cublasContext, destroy_handle> handle_;
  std::size_t workspace_bytes_;
};

// Bytes and fp8 go through cuBLASLt, which says beforehand which sizes it does not take.
struct i8 : common::lt_variant<kzoo::types<kzoo::to<signed char, int>>> {
  using common::lt_variant<kzoo::types<kzoo::to<signed char, int>>>::lt_variant;
  static constexpr kzoo::granularity granularity{.row_bytes = 4};
};
struct fp8 : common::lt_variant<common::lt_fp8_types> {
  using common::lt_variant<common::lt_fp8_types>::lt_variant;
  static constexpr kzoo::granularity granularity{.k = 16, .row_bytes = 16};
};

}  // namespace

KZOO_PLUGIN(
    "cublas", "NVIDIA cuBLAS",
    kzoo::variant<cublas<CUBLAS_COMPUTE_32F, float>>("fp32", "cublasGemmEx in true fp32"),
    kzoo::variant<cublas<CUBLAS_COMPUTE_32F_FAST_TF32, float>>(
        "tf32", "the same on tensor cores: inputs rounded to TF32, fp32 accumulators"),
    kzoo::variant<cublas<CUBLAS_COMPUTE_32F, __half, kzoo::to<__half, float>>>(
        "f16", "fp16 matrices on tensor cores, fp32 accumulators"),
    kzoo::variant<cublas<CUBLAS_COMPUTE_32F, __nv_bfloat16, kzoo::to<__nv_bfloat16, float>>>(
        "bf16", "bf16 matrices on tensor cores, fp32 accumulators"),
    kzoo::variant<cublas<CUBLAS_COMPUTE_16F, __half>>("f16_sums",
                                                      "fp16 matrices, fp16 accumulators"),
    kzoo::variant<cublas<CUBLAS_COMPUTE_64F, double>>("f64",
                                                      "fp64, on tensor cores where there are"),
    kzoo::variant<i8>("i8", "cublasLtMatmul: bytes on tensor cores, 32-bit accumulators"),
    kzoo::variant<fp8>("fp8", "cublasLtMatmul: fp8 matrices on tensor cores, with scales"));
