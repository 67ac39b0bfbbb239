// CUTLASS 2.x: threadblock, warp and instruction tiles as template arguments, operands through
// cp.async stages. The tiles are those of CUTLASS's own profiler for sm_80.

#include "operation_of.hpp"

#include <cutlass/epilogue/thread/linear_combination.h>
#include <cutlass/gemm/device/gemm_universal.h>
#include <cutlass/gemm/threadblock/threadblock_swizzle.h>

namespace zoo_cutlass {
namespace {

using cutlass::gemm::GemmShape;
using row_major = cutlass::layout::RowMajor;

template <class Element, class OperatorClass, class Threadblock, class Warp, class Instruction,
          int kStages, int kAlignment>
struct universal {
  using gemm = cutlass::gemm::device::GemmUniversal<
      Element, row_major, Element, row_major, Element, row_major, float, OperatorClass,
      cutlass::arch::Sm80, Threadblock, Warp, Instruction,
      cutlass::epilogue::thread::LinearCombination<Element, kAlignment, float, float>,
      cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<8>, kStages, kAlignment,
      kAlignment>;

  static typename gemm::Arguments arguments(const kzoo_problem& p, const kzoo_device&,
                                            const kzoo_arguments& args) {
    return {cutlass::gemm::GemmUniversalMode::kBatched,
            {static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k)},
            products(p),
            {static_cast<float>(p.alpha), static_cast<float>(p.beta)},
            args.a,
            args.b,
            args.c,
            args.c,
            p.stride_a,
            p.stride_b,
            p.stride_c,
            p.stride_c,
            p.lda,
            p.ldb,
            p.ldc,
            p.ldc};
  }
};

using simt = universal<float, cutlass::arch::OpClassSimt, GemmShape<128, 256, 8>,
                       GemmShape<64, 64, 8>, GemmShape<1, 1, 1>, 5, 1>;
using tensor_op_tf32 = universal<float, cutlass::arch::OpClassTensorOp, GemmShape<128, 256, 16>,
                                 GemmShape<64, 64, 16>, GemmShape<16, 8, 8>, 4, 4>;
using tensor_op_bf16 =
    universal<cutlass::bfloat16_t, cutlass::arch::OpClassTensorOp, GemmShape<128, 256, 32>,
              GemmShape<64, 64, 32>, GemmShape<16, 8, 16>, 3, 8>;

}  // namespace

const operation kSimt = operation_of<simt>;
const operation kTensorOpTf32 = operation_of<tensor_op_tf32>;
const operation kTensorOpBf16 = operation_of<tensor_op_bf16>;

}  // namespace zoo_cutlass
