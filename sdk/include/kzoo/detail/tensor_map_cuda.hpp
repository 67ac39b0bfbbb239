// Gets tensor maps through the runtime, without linking to libcuda. Included by tma.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <kzoo/error.hpp>

namespace kzoo::detail {

using encode_tiled = decltype(&cuTensorMapEncodeTiled);

inline encode_tiled driver_encode_tiled() {
  static const auto function = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    constexpr unsigned kSince = 12000;  // CUDA 12.0
#if CUDART_VERSION >= 12050
    const cudaError_t status = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found,
                                                                kSince, cudaEnableDefault, &result);
#else
    const cudaError_t status =
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &result);
#endif
    cudaGetLastError();  // reported below; must not appear as the failure of a later call
    return status == cudaSuccess && result == cudaDriverEntryPointSuccess ? found : nullptr;
  }();
  if (function == nullptr) {
    throw error(KZOO_UNAVAILABLE, "the driver has no tensor maps: it is older than CUDA 12.0");
  }
  return reinterpret_cast<encode_tiled>(function);
}

template <class T>
constexpr CUtensorMapDataType tensor_map_type() {
  if constexpr (std::is_same_v<T, __half>) {
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  } else if constexpr (sizeof(T) == 1) {
    return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  } else {
    static_assert(std::is_same_v<T, float>,
                  "tensor maps are of bytes, __half, __nv_bfloat16 or float");
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  }
}

// `count` row-major matrices, `stride` elements apart, accessed in boxes of box_rows x box_cols
// elements, swizzled by 128 bytes. `count` 0: one matrix, without an index.
template <class T>
void encode_tensor_map(void* map, const T* matrix, int rows, int cols, std::ptrdiff_t row_length,
                       int box_rows, int box_cols, int count = 0, std::ptrdiff_t stride = 0) {
  const cuuint64_t extent[] = {cuuint64_t(cols), cuuint64_t(rows), cuuint64_t(count)};
  const cuuint64_t strides[] = {cuuint64_t(row_length) * sizeof(T), cuuint64_t(stride) * sizeof(T)};
  const cuuint32_t box[] = {cuuint32_t(box_cols), cuuint32_t(box_rows), 1};
  const cuuint32_t step[] = {1, 1, 1};
  const CUresult status =
      driver_encode_tiled()(static_cast<CUtensorMap*>(map), tensor_map_type<T>(),
                            count == 0 ? 2 : 3, const_cast<T*>(matrix), extent, strides, box, step,
                            CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                            CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    throw error(KZOO_ERROR, "cuTensorMapEncodeTiled: error " + std::to_string(status) + " for " +
                                std::to_string(rows) + " x " + std::to_string(cols) +
                                " elements with " + std::to_string(row_length) + " per row");
  }
}

}  // namespace kzoo::detail
