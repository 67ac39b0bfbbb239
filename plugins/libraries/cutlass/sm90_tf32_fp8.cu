// TF32 and fp8: wgmma reads both from shared memory along K only, so B is column-major.

#include "sm90.hpp"

namespace zoo_cutlass {
namespace {

using namespace cute;

// CUTLASS's `float` is TF32 here: TMA rounds.
using tf32 = warp_specialized<float, float, cutlass::layout::ColumnMajor, Shape<_128, _256, _32>,
                              cutlass::gemm::KernelTmaWarpSpecializedCooperative,
                              cutlass::epilogue::TmaWarpSpecializedCooperative>;
// Not the schedule with fast accumulation: sums of 128 products are added in fp32.
using fp8 =
    warp_specialized<cutlass::float_e4m3_t, cutlass::bfloat16_t, cutlass::layout::ColumnMajor,
                     Shape<_128, _128, _128>, cutlass::gemm::KernelTmaWarpSpecializedCooperative,
                     cutlass::epilogue::TmaWarpSpecializedCooperative>;

}  // namespace

const operation kCooperativeTf32 = operation_of<tf32>;
const operation kCooperativeFp8 = operation_of<fp8>;

}  // namespace zoo_cutlass
