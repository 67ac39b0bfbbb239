// cublasLtMatmul, which is recorded, and always passed on.

#include "asked_product.hpp"
#include "pass_on.hpp"
#include "takeover.hpp"

#include <cublasLt.h>

#include <cstdint>

namespace kzoo::preload {
namespace {

// What cublasLt says of a description; `otherwise` where it does not know the attribute.
template <class T, class Get, class Description, class Attribute>
T attribute(Get get, Description of, Attribute which, T otherwise) {
  T value = otherwise;
  std::size_t written = 0;
  if (get == nullptr || get(of, which, &value, sizeof value, &written) != CUBLAS_STATUS_SUCCESS)
    return otherwise;
  return value;
}

template <class T>
T of_product(cublasLtMatmulDesc_t how, cublasLtMatmulDescAttributes_t which, T otherwise) {
  static const auto get =
      real<decltype(&cublasLtMatmulDescGetAttribute)>("cublasLtMatmulDescGetAttribute");
  return attribute(get, how, which, otherwise);
}

struct matrix {
  cudaDataType_t type;
  std::int64_t rows, columns, ld, stride, batch;
  bool is_column_major;

  explicit matrix(cublasLtMatrixLayout_t layout)
      : type(get(layout, CUBLASLT_MATRIX_LAYOUT_TYPE, CUDA_C_64F)),
        rows(get<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_ROWS, 0)),
        columns(get<std::uint64_t>(layout, CUBLASLT_MATRIX_LAYOUT_COLS, 0)),
        ld(get<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_LD, 0)),
        stride(get<std::int64_t>(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, 0)),
        batch(get<std::int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, 1)),
        is_column_major(get(layout, CUBLASLT_MATRIX_LAYOUT_ORDER, CUBLASLT_ORDER_COL) ==
                        CUBLASLT_ORDER_COL) {}

  template <class T>
  static T get(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t which, T otherwise) {
    static const auto function =
        real<decltype(&cublasLtMatrixLayoutGetAttribute)>("cublasLtMatrixLayoutGetAttribute");
    return attribute(function, layout, which, otherwise);
  }
};

// nullptr: experiments have none such. A column-major bias for each row is one for each column of
// the transpose.
const char* epilogue_name(std::uint32_t epilogue) {
  switch (epilogue) {
    case CUBLASLT_EPILOGUE_DEFAULT: return "";
    case CUBLASLT_EPILOGUE_RELU: return "relu";
    case CUBLASLT_EPILOGUE_GELU: return "gelu_tanh";
    case CUBLASLT_EPILOGUE_BIAS: return "bias";
    case CUBLASLT_EPILOGUE_RELU_BIAS: return "bias + relu";
    case CUBLASLT_EPILOGUE_GELU_BIAS: return "bias + gelu_tanh";
    default: return nullptr;
  }
}

asked_product asked(cublasLtMatmulDesc_t how, const void* alpha, const matrix& a, const matrix& b,
                    const void* beta, const matrix& d, bool is_in_place) {
  const char* const epilogue = epilogue_name(
      of_product<std::uint32_t>(how, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DEFAULT));
  if (epilogue == nullptr) return no_product("epilogues that no experiment has");
  if (!a.is_column_major || !b.is_column_major || !d.is_column_major)
    return no_product("matrices that are not column-major");
  for (const auto scales : {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, CUBLASLT_MATMUL_DESC_B_SCALE_MODE})
    if (of_product<std::int32_t>(how, scales, 0) != CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F)
      return no_product("scales other than one for a matrix");
  const auto mode = of_product(how, CUBLASLT_MATMUL_DESC_POINTER_MODE, CUBLASLT_POINTER_MODE_HOST);
  const auto compute = of_product(how, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, CUBLAS_COMPUTE_32F);
  const auto transa = of_product(how, CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_N);
  const auto transb = of_product(how, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
  const std::int64_t k = transa == CUBLAS_OP_N ? a.columns : a.rows;
  const asked_product product =
      product_of({nullptr,  transa,   transb,  d.rows, d.columns, k,      alpha,   nullptr,
                  a.ld,     a.stride, nullptr, b.ld,   b.stride,  beta,   nullptr, d.ld,
                  d.stride, d.batch,  a.type,  b.type, d.type,    compute},
                 {mode == CUBLASLT_POINTER_MODE_HOST, false, epilogue});
  if (product.why_not.empty() && product.problem.beta != 0 && !is_in_place)
    return no_product("results apart from the C that beta multiplies");
  return product;
}

}  // namespace
}  // namespace kzoo::preload

extern "C" cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t how,
                                         const void* alpha, const void* a,
                                         cublasLtMatrixLayout_t layout_a, const void* b,
                                         cublasLtMatrixLayout_t layout_b, const void* beta,
                                         const void* c, cublasLtMatrixLayout_t layout_c, void* d,
                                         cublasLtMatrixLayout_t layout_d,
                                         const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                                         size_t bytes, cudaStream_t stream) {
  using namespace kzoo::preload;
  if (is_recorded() && how != nullptr && layout_a != nullptr && layout_b != nullptr &&
      layout_d != nullptr) {
    record(asked(how, alpha, matrix(layout_a), matrix(layout_b), beta, matrix(layout_d), c == d));
  }
  static void* const other = find_real("cublasLtMatmul");
  return pass_on(other, "cublasLtMatmul", handle, how, alpha, a, layout_a, b, layout_b, beta, c,
                 layout_c, d, layout_d, algorithm, workspace, bytes, stream);
}
