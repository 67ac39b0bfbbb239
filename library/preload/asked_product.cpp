#include "asked_product.hpp"

#include <kzoo/stages.hpp>

#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace kzoo::preload {
namespace {

std::optional<kzoo_type> type_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_32F: return KZOO_F32;
    case CUDA_R_16F: return KZOO_F16;
    case CUDA_R_16BF: return KZOO_BF16;
    case CUDA_R_64F: return KZOO_F64;
    case CUDA_R_8I: return KZOO_I8;
    case CUDA_R_32I: return KZOO_I32;
    case CUDA_R_8F_E4M3: return KZOO_E4M3;
    case CUDA_R_8F_E5M2: return KZOO_E5M2;
    default: return std::nullopt;
  }
}

std::optional<element_types> types_of(const blas_call& c) {
  const auto a = type_of(c.type_b), b = type_of(c.type_a), of_c = type_of(c.type_c);
  if (!a || !b || !of_c) return std::nullopt;
  const element_types types(*a, *b, *of_c);
  const bool is_known = std::ranges::find(kElementTypes, types) != kElementTypes.end();
  return is_known ? std::optional(types) : std::nullopt;
}

// alpha and beta have the type that sums have.
double scalar(const void* at, const blas_call& c) {
  switch (c.compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return __half2float(*static_cast<const __half*>(at));
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: return *static_cast<const std::int32_t*>(at);
    default:
      return c.type_c == CUDA_R_64F ? *static_cast<const double*>(at)
                                    : *static_cast<const float*>(at);
  }
}

const char* lower_precision(const blas_call& c, const call_modes& modes,
                            const element_types& types) {
  if (types == KZOO_F16 && c.compute == CUBLAS_COMPUTE_16F) return "fp16 sums";
  if (types != KZOO_F32) return "";
  if (c.compute == CUBLAS_COMPUTE_32F_FAST_16F) return "fp16";
  if (c.compute == CUBLAS_COMPUTE_32F_FAST_16BF) return "bf16";
  const bool is_usual = c.compute == CUBLAS_COMPUTE_32F;
  const bool is_fast = c.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  return is_fast || (is_usual && modes.allows_tf32) ? "tf32" : "";
}

// cuBLAS's matrices are column-major, and the problem's C is row-major: of their transposes.
struct stored {
  std::int64_t rows, columns, ld, stride;
  bool fits() const { return ld >= columns; }
  bool is_packed(std::int64_t batch) const {
    return (ld == columns || rows == 1) && (batch == 1 || stride == 0 || stride == rows * columns);
  }
};

bool is_transposed(cublasOperation_t op) { return op != CUBLAS_OP_N; }
bool is_known(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

}  // namespace

asked_product product_of(const blas_call& c, const call_modes& modes) {
  const auto types = types_of(c);
  if (!types) return no_product("types that no experiment has");
  if (!is_known(c.transa) || !is_known(c.transb)) return no_product("unknown operations");
  if (c.m <= 0 || c.n <= 0 || c.k <= 0 || c.batch <= 0)
    return no_product("sizes that are not above 0");
  if (std::max({c.m, c.n, c.k}) > kLargestDimension || c.batch > kLargestBatch)
    return no_product("larger sizes or batches than an experiment has");
  if (!modes.epilogue.empty() && !is_finished_type(types->c))
    return no_product("epilogues of these types");
  const bool ta = is_transposed(c.transa), tb = is_transposed(c.transb);
  const stored a{ta ? c.m : c.k, ta ? c.k : c.m, c.lda, c.stride_a};
  const stored b{tb ? c.k : c.n, tb ? c.n : c.k, c.ldb, c.stride_b};
  const stored of_c{c.n, c.m, c.ldc, c.stride_c};
  if (!a.fits() || !b.fits() || !of_c.fits())
    return no_product("leading dimensions that are too small");
  if (c.batch > 1 && (c.stride_c == 0 || (c.stride_a == 0 && c.stride_b == 0)))
    return no_product("batches of the same product");
  if (c.alpha == nullptr || c.beta == nullptr) return no_product("null pointers");
  if (!modes.has_scalars) return no_product("alpha and beta in device memory");

  problem p;
  p.m = c.n;
  p.n = c.m;
  p.k = c.k;
  p.dtype = *types;
  p.alpha = scalar(c.alpha, c);
  p.beta = scalar(c.beta, c);
  constexpr double kMost = std::numeric_limits<float>::max();
  if (!(std::abs(p.alpha) <= kMost && std::abs(p.beta) <= kMost))
    return no_product("an alpha or a beta beyond fp32");
  p.layout = layout_of(tb, ta);
  p.batch = c.batch;
  if (p.batch > 1 && c.stride_b == 0) p.batch_shared = shared_operand::a;
  if (p.batch > 1 && c.stride_a == 0) p.batch_shared = shared_operand::b;
  return {"", p, modes.epilogue, lower_precision(c, modes, *types),
          a.is_packed(p.batch) && b.is_packed(p.batch) && of_c.is_packed(p.batch)};
}

}  // namespace kzoo::preload
