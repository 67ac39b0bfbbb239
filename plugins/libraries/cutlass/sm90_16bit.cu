#include "sm90.hpp"

namespace zoo_cutlass {
namespace {

using namespace cute;

using cooperative =
    warp_specialized<cutlass::bfloat16_t, cutlass::bfloat16_t, cutlass::layout::RowMajor,
                     Shape<_128, _256, _64>, cutlass::gemm::KernelTmaWarpSpecializedCooperative,
                     cutlass::epilogue::TmaWarpSpecializedCooperative>;
using pingpong =
    warp_specialized<cutlass::bfloat16_t, cutlass::bfloat16_t, cutlass::layout::RowMajor,
                     Shape<_128, _128, _64>, cutlass::gemm::KernelTmaWarpSpecializedPingpong,
                     cutlass::epilogue::TmaWarpSpecialized>;

}  // namespace

const operation kCooperativeBf16 = operation_of<cooperative>;
const operation kPingpongBf16 = operation_of<pingpong>;

}  // namespace zoo_cutlass
