#include "tensor_maps.hpp"

#include <kzoo/detail/tensor_map_cuda.hpp>
#include <kzoo/error.hpp>
#include <kzoo/type_names.hpp>

#include <string>

namespace kzoo::manifest {
namespace {

CUtensorMapDataType data_type(kzoo_type type) {
  switch (type) {
    case KZOO_F16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case KZOO_BF16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case KZOO_F64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case KZOO_I32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case KZOO_I8:
    case KZOO_E4M3:
    case KZOO_E5M2:
    case KZOO_I4: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    default: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  }
}

CUtensorMapSwizzle swizzle(std::uint32_t bytes) {
  switch (bytes) {
    case 32: return CU_TENSOR_MAP_SWIZZLE_32B;
    case 64: return CU_TENSOR_MAP_SWIZZLE_64B;
    case 128: return CU_TENSOR_MAP_SWIZZLE_128B;
    default: return CU_TENSOR_MAP_SWIZZLE_NONE;
  }
}

// A matrix: `along` contiguous elements (int4: pairs), `across` times, `apart` from each other.
struct in_memory {
  void* start;
  kzoo_type type;
  std::int64_t along, across, apart;
};

in_memory matrix_of(argument_kind which, const kzoo_problem& p, const kzoo_arguments& args) {
  const bool a_transposed = p.layout_a == KZOO_COLUMN_MAJOR;
  const bool b_transposed = p.layout_b == KZOO_COLUMN_MAJOR;
  const std::int64_t in_word = elements_in_word(p.type_b);
  const std::int64_t groups = p.groups == 0 ? 1 : p.groups;  // one B below the other
  switch (which) {
    case argument_kind::a:
      return {const_cast<void*>(args.a), p.type_a, a_transposed ? p.m : p.k,
              a_transposed ? p.k : p.m, p.lda};
    case argument_kind::b:
      return {const_cast<void*>(args.b), p.type_b, (b_transposed ? p.k : p.n) / in_word,
              groups * (b_transposed ? p.n : p.k), p.ldb / in_word};
    default: return {args.c, p.type_c, p.n, p.m, p.ldc};
  }
}

}  // namespace

CUtensorMap make_tensor_map(const tensor_map& map, const kzoo_problem& p,
                            const kzoo_arguments& args) {
  const in_memory matrix = matrix_of(map.matrix, p, args);
  const cuuint64_t extent[] = {cuuint64_t(matrix.along), cuuint64_t(matrix.across)};
  const cuuint64_t stride[] = {cuuint64_t(matrix.apart * type_bytes(matrix.type))};
  const cuuint32_t step[] = {1, 1};
  CUtensorMap made{};
  const CUresult status = detail::driver_encode_tiled()(
      &made, data_type(matrix.type), 2, matrix.start, extent, stride, map.box.data(), step,
      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle(map.swizzle), CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status == CUDA_SUCCESS) return made;
  throw error(KZOO_ERROR, "cuTensorMapEncodeTiled: error " + std::to_string(status) + " for '" +
                              map.name + "', boxes of " + std::to_string(map.box[0]) + " x " +
                              std::to_string(map.box[1]) + " in a matrix whose rows are " +
                              std::to_string(stride[0]) + " bytes apart");
}

}  // namespace kzoo::manifest
