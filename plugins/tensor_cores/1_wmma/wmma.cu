// Tensor cores through WMMA, CUDA's C++ interface to them: a warp loads fragments of A and B from
// tiles in shared memory and multiplies them 16 x 16 at a time, with fp32 accumulators. float is
// rounded to TF32 first. simple.hpp has the idea alone, pipelined.hpp what makes it fast.

#include "pipelined.hpp"
#include "simple.hpp"

using tensor::pipelined;
using tensor::tiling;

namespace tensor {

using same_types = kzoo::types<float, __half, __nv_bfloat16>;
using all_types = kzoo::types<float, __half, __nv_bfloat16, kzoo::to<__half, float>,
                              kzoo::to<__nv_bfloat16, float>>;
using nn = kzoo::layouts<kzoo::layout::nn>;

}  // namespace tensor

// What is rarely the fastest is not built for everything.
KZOO_PLUGIN(
    "wmma", "Tensor cores through WMMA fragments",
    kzoo::variant<tensor::simple>("64x64x32_16x16", "one fragment of C per warp"),
    kzoo::variant<pipelined<tiling<128, 64, 32, 64, 32, 4, 2>, tensor::same_types>>(
        "128x64x32_64x32", "4 warps, 4 stages; for matrices with few tiles"),
    kzoo::variant<pipelined<tiling<128, 128, 32, 64, 64, 3, 2>, tensor::same_types, tensor::nn>>(
        "128x128x32_64x64", "4 warps, 3 stages, two blocks per SM"),
    kzoo::variant<pipelined<tiling<128, 256, 32, 64, 64, 4, 1>, tensor::all_types>>(
        "128x256x32_64x64", "8 warps, 4 stages; for large matrices"));
