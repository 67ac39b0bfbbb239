#pragma once
// One product in cuBLASLt, and the algorithms that its heuristic proposes for it. Host code only.
// As with cuBLAS, which is column-major, what is computed is C^T = B^T A^T.

#include <kzoo/plugin.hpp>
#include <kzoo/trial.hpp>

#include <libraries/cublaslt/extras.hpp>

#include <cublasLt.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

namespace common {

inline void check(cublasStatus_t status, const char* function, kzoo_status code = KZOO_ERROR) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw kzoo::error(code, std::string(function) + ": " + cublasLtGetStatusName(status) + " (" +
                              cublasLtGetStatusString(status) + ")");
}

using lt_fp8_types =
    kzoo::types<kzoo::to<__nv_fp8_e4m3, float>, kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>,
                kzoo::mixed<__nv_fp8_e4m3, __nv_fp8_e5m2, __nv_bfloat16>,
                kzoo::mixed<__nv_fp8_e5m2, __nv_fp8_e4m3, __nv_bfloat16>>;

// What cuBLAS's manual recommends for Hopper.
inline constexpr std::size_t kLtWorkspace = std::size_t{32} << 20;

inline cudaDataType_t lt_type(kzoo_type type) {
  switch (type) {
    case KZOO_F64: return CUDA_R_64F;
    case KZOO_F16: return CUDA_R_16F;
    case KZOO_BF16: return CUDA_R_16BF;
    case KZOO_I8: return CUDA_R_8I;
    case KZOO_I32: return CUDA_R_32I;
    case KZOO_E4M3: return CUDA_R_8F_E4M3;
    case KZOO_E5M2: return CUDA_R_8F_E5M2;
    default: return CUDA_R_32F;
  }
}

// What it computes in: no less than the accumulators of the types.
inline cublasComputeType_t lt_compute(const kzoo_problem& p) {
  return p.type_c == KZOO_F64   ? CUBLAS_COMPUTE_64F
         : p.type_c == KZOO_I32 ? CUBLAS_COMPUTE_32I
                                : CUBLAS_COMPUTE_32F;
}

// The modes of scales that are operands came with CUDA 12.9.
inline constexpr bool kHasScaleModes = CUBLAS_VERSION >= 120900;

inline std::uint32_t lt_epilogue(const lt_extras& extras) {
  const bool has_bias = extras.bias != kNoOperand;
  switch (extras.activation) {
    case lt_activation::relu:
      return has_bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case lt_activation::gelu:
      return has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default: return has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
}

// Why cuBLASLt has no such product, or nullptr. fp8 has one layout before Blackwell: the k of both
// operands next to each other.
inline const char* lt_objection(const kzoo_problem& p, const kzoo_device& d) {
  const lt_extras extras = extras_of(p);
  if (extras.objection != nullptr) return extras.objection;
  if (!is_fp8(p.type_a)) return nullptr;
  if (d.kind == KZOO_CUDA && d.compute_capability < 89) return "fp8 needs sm_89";
  if (kzoo::layout_of(p) != kzoo::layout::nt)
    return "cuBLASLt multiplies fp8 matrices in layout nt only";
  const std::int64_t c_element = kzoo::type_bytes(p.type_c);
  for (const std::int64_t apart :
       {p.k, p.lda, p.ldb, p.ldc * c_element, p.stride_a, p.stride_b, p.stride_c * c_element}) {
    if (apart % 16 == 0) continue;
    return "cuBLASLt multiplies fp8 matrices only where K is a multiple of 16, and rows start at "
           "multiples of 16 bytes";
  }
  if (!extras.scales_are_operands()) return nullptr;
  if (!kHasScaleModes) return "scales of rows, columns and blocks need CUDA 12.9";
  if (d.kind == KZOO_CUDA && d.compute_capability != 90)
    return "cuBLASLt scales rows, columns and blocks on sm_90 only";
  return nullptr;
}

// Of the current device, for all products and threads: a handle keeps nothing of a product, and
// cublasLtDestroy waits for the device. It lives as long as the process.
inline cublasLtHandle_t lt_handle() {
  static std::mutex mutex;
  static std::map<int, cublasLtHandle_t> handles;
  int device = 0;
  kzoo::check_cuda(cudaGetDevice(&device), "cudaGetDevice", KZOO_UNAVAILABLE);
  const std::scoped_lock lock(mutex);
  cublasLtHandle_t& handle = handles[device];
  if (handle == nullptr) check(cublasLtCreate(&handle), "cublasLtCreate", KZOO_UNAVAILABLE);
  return handle;
}

class lt_product {
 public:
  explicit lt_product(const kzoo_problem& p) : extras_(extras_of(p)) {
    const cublasComputeType_t compute = lt_compute(p);
    set_scalars(p, compute);
    describe(p, compute);
    // The heuristic reads nothing there, but takes from the address how the operands are aligned.
    point_to([&p](int) { return reinterpret_cast<const void*>(std::uintptr_t{p.alignment}); });
    cublasLtMatmulPreference_t wanted = nullptr;
    check(cublasLtMatmulPreferenceCreate(&wanted), "cublasLtMatmulPreferenceCreate");
    const kzoo::owned<std::remove_pointer_t<decltype(wanted)>, cublasLtMatmulPreferenceDestroy>
        kept(wanted);
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t which, auto value) {
      check(cublasLtMatmulPreferenceSetAttribute(wanted, which, &value, sizeof value),
            "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{kLtWorkspace});
    // Parts of a sum over K are not rounded to the type of C before they are added up.
    prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
           std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle_, product_.get(), b_.get(), a_.get(), c_.get(), c_.get(), wanted,
        static_cast<int>(candidates_.size()), candidates_.data(), &found);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED || (status == CUBLAS_STATUS_SUCCESS && found == 0))
      throw kzoo::error(KZOO_UNSUPPORTED, "cuBLASLt has no algorithm for this problem");
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    found_ = static_cast<std::size_t>(found);
  }

  // How many algorithms the heuristic has found, at least one.
  std::size_t count() const { return found_; }
  void choose(std::size_t index) { chosen_ = index; }

  void run(const kzoo_arguments& args) const {
    point_to([&args](int operand) { return args.operands[operand]; });
    check(cublasLtMatmul(handle_, product_.get(), &alpha_, args.b, b_.get(), args.a, a_.get(),
                         &beta_, args.c, c_.get(), args.c, c_.get(), &candidates_[chosen_].algo,
                         args.workspace, kLtWorkspace, static_cast<cudaStream_t>(args.stream)),
          "cublasLtMatmul");
  }

 private:
  static constexpr std::size_t kMostCandidates = 8;
  template <auto kFree, class Handle>
  using made = kzoo::owned<std::remove_pointer_t<Handle>, kFree>;

  // A number of the type that the product's alpha and beta have.
  union scalar {
    float f32;
    double f64;
    std::int32_t i32;
    __half f16;
    scalar() : f64(0) {}
  };

  void set_scalars(const kzoo_problem& p, cublasComputeType_t compute) {
    const auto put = [&](scalar& to, double value) {
      switch (compute) {
        case CUBLAS_COMPUTE_64F: to.f64 = value; break;
        case CUBLAS_COMPUTE_32I: to.i32 = static_cast<std::int32_t>(value); break;
        case CUBLAS_COMPUTE_16F: to.f16 = __half(static_cast<float>(value)); break;
        default: to.f32 = static_cast<float>(value);
      }
    };
    // Where the library gets scales from operands, the numbers for whole matrices are in alpha.
    put(alpha_, extras_.scales_are_operands() ? p.alpha * scale_of(p.scale_a) * scale_of(p.scale_b)
                                              : p.alpha);
    put(beta_, p.beta);
  }
  static double scale_of(double given) { return given == 0 ? 1 : given; }

  template <class T>
  void set(cublasLtMatmulDescAttributes_t which, T value) const {
    check(cublasLtMatmulDescSetAttribute(product_.get(), which, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  }

  // Where the operands that the product has are: `address_of` is called with their indices.
  template <class Addresses>
  void point_to(const Addresses& address_of) const {
    const auto point = [&](cublasLtMatmulDescAttributes_t which, int operand) {
      if (operand != kNoOperand) set(which, static_cast<const void*>(address_of(operand)));
    };
    point(CUBLASLT_MATMUL_DESC_BIAS_POINTER, extras_.bias);
    point(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, extras_.scales_b);
    point(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, extras_.scales_a);
  }

  void describe_extras(const kzoo_problem& p) const {
    if (p.stage_count > 0) set(CUBLASLT_MATMUL_DESC_EPILOGUE, lt_epilogue(extras_));
    if (extras_.bias != kNoOperand)
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<std::int32_t>(lt_type(lt_bias_type(p))));
#if CUBLAS_VERSION >= 120900
    const auto mode = [](lt_scaling scaling) -> std::int32_t {
      switch (scaling) {
        case lt_scaling::vector: return CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F;
        case lt_scaling::blocks_1x128: return CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F;
        case lt_scaling::blocks_128x128: return CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F;
        default: return CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
      }
    };
    if (!extras_.scales_are_operands()) return;
    set(CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode(extras_.scaling_b));
    set(CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode(extras_.scaling_a));
#endif
  }

  void describe(const kzoo_problem& p, cublasComputeType_t compute) {
    const cudaDataType_t scalars = compute == CUBLAS_COMPUTE_64F   ? CUDA_R_64F
                                   : compute == CUBLAS_COMPUTE_32I ? CUDA_R_32I
                                   : compute == CUBLAS_COMPUTE_16F ? CUDA_R_16F
                                                                   : CUDA_R_32F;
    cublasLtMatmulDesc_t product = nullptr;
    check(cublasLtMatmulDescCreate(&product, compute, scalars), "cublasLtMatmulDescCreate");
    product_.reset(product);
    // The library's A is B here, and the other way round.
    const kzoo::layout given = kzoo::layout_of(p);
    const bool a_transposed = kzoo::is_a_transposed(given);
    const bool b_transposed = kzoo::is_b_transposed(given);
    set(CUBLASLT_MATMUL_DESC_TRANSA, b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    describe_extras(p);
    if (is_fp8(p.type_a) && !extras_.scales_are_operands()) {
      // Where each of them starts, at a multiple of 16 bytes: other addresses are not supported.
      constexpr std::size_t kApart = 64;
      std::array<float, 2 * kApart> scales{};
      scales[0] = static_cast<float>(scale_of(p.scale_a));
      scales[kApart] = static_cast<float>(scale_of(p.scale_b));
      scales_ = kzoo::device_bytes(sizeof scales);
      kzoo::check_cuda(
          cudaMemcpy(scales_.get(), scales.data(), sizeof scales, cudaMemcpyHostToDevice),
          "cudaMemcpy");
      const float* const of_a = static_cast<const float*>(scales_.get());
      set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, of_a + kApart);
      set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, of_a);
    }
    const auto matrix = [&p](auto& to, kzoo_type type, std::int64_t rows, std::int64_t cols,
                             bool transposed, std::int64_t ld, std::int64_t stride) {
      if (transposed) std::swap(rows, cols);
      cublasLtMatrixLayout_t made_layout = nullptr;
      check(
          cublasLtMatrixLayoutCreate(&made_layout, lt_type(type), static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(cols), ld),
          "cublasLtMatrixLayoutCreate");
      to.reset(made_layout);
      if (p.batch <= 1) return;
      const auto set_layout = [&](cublasLtMatrixLayoutAttribute_t which, auto value) {
        check(cublasLtMatrixLayoutSetAttribute(made_layout, which, &value, sizeof value),
              "cublasLtMatrixLayoutSetAttribute");
      };
      set_layout(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(p.batch));
      set_layout(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
    };
    matrix(b_, p.type_b, p.n, p.k, b_transposed, p.ldb, p.stride_b);
    matrix(a_, p.type_a, p.k, p.m, a_transposed, p.lda, p.stride_a);
    matrix(c_, p.type_c, p.n, p.m, false, p.ldc, p.stride_c);
  }

  lt_extras extras_;
  const cublasLtHandle_t handle_ = lt_handle();
  made<cublasLtMatmulDescDestroy, cublasLtMatmulDesc_t> product_;
  made<cublasLtMatrixLayoutDestroy, cublasLtMatrixLayout_t> a_, b_, c_;
  kzoo::owned<void, cudaFree> scales_;
  scalar alpha_, beta_;
  std::array<cublasLtMatmulHeuristicResult_t, kMostCandidates> candidates_{};
  std::size_t found_ = 0, chosen_ = 0;
};

// A variant in cuBLASLt: the heuristic's first candidate. What derives from it chooses another.
template <class Types>
class lt_variant {
 public:
  using types = Types;
  using layouts = kzoo::every_layout;
  static constexpr bool batches = true;
  static constexpr bool epilogues = true;
  static constexpr bool block_scales = true;
  template <class T>
  static constexpr kzoo_precision precision_of = is_fp8(kzoo::element_traits<T>::type_a)
                                                     ? KZOO_COMPUTE_FP8
                                                     : kzoo::element_traits<T>::precision;

  static const char* supports(const kzoo_problem& p, const kzoo_device& d) {
    return lt_objection(p, d);
  }
  static std::size_t workspace_bytes(const kzoo_problem&, const kzoo_device&) {
    return kLtWorkspace;
  }
  lt_variant(const kzoo_problem& p, const kzoo_device&) : product_(p) {}

  template <class Gemm>  // any: the product knows its problem
  void run(const Gemm&, const kzoo_arguments& args) const {
    product_.run(args);
  }

 protected:
  lt_product product_;
};

}  // namespace common
