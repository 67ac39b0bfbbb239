#pragma once
// CUTLASS 3.x: a mainloop and an epilogue from the collective builder, and a persistent kernel with
// clusters of two blocks around them.

#include "operation_of.hpp"

#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>

namespace zoo_cutlass {

// The stride that is not 1 at compile time is the leading dimension; the third is from product to
// product.
template <class Stride>
Stride stride_of(std::int64_t leading_dimension, std::int64_t product) {
  Stride stride{};
  if constexpr (cute::is_static_v<cute::tuple_element_t<0, Stride>>) {
    cute::get<1>(stride) = leading_dimension;
  } else {
    cute::get<0>(stride) = leading_dimension;
  }
  if constexpr (!cute::is_static_v<cute::tuple_element_t<2, Stride>>)
    cute::get<2>(stride) = product;
  return stride;
}

// A is row-major; B is too, or column-major with LayoutB.
template <class Element, class ElementC, class LayoutB, class Tile, class MainloopSchedule,
          class EpilogueSchedule>
struct warp_specialized {
  using row_major = cutlass::layout::RowMajor;
  using cluster = cute::Shape<cute::_2, cute::_1, cute::_1>;
  static constexpr int kAlignment = 16 / sizeof(Element), kAlignmentC = 16 / sizeof(ElementC);

  using epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, cluster,
      cutlass::epilogue::collective::EpilogueTileAuto, float, float, ElementC, row_major,
      kAlignmentC, ElementC, row_major, kAlignmentC, EpilogueSchedule>::CollectiveOp;
  using mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Element, row_major, kAlignment, Element,
      LayoutB, kAlignment, float, Tile, cluster,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
          sizeof(typename epilogue::SharedStorage))>,
      MainloopSchedule>::CollectiveOp;
  using kernel =
      cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, mainloop, epilogue>;
  using gemm = cutlass::gemm::device::GemmUniversalAdapter<kernel>;

  static typename gemm::Arguments arguments(const kzoo_problem& p, const kzoo_device& d,
                                            const kzoo_arguments& args) {
    const auto strides = stride_of<typename kernel::StrideC>(p.ldc, p.stride_c);
    const auto c = static_cast<ElementC*>(args.c);
    typename gemm::Arguments arguments{
        cutlass::gemm::GemmUniversalMode::kGemm,
        {static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k), products(p)},
        {static_cast<const Element*>(args.a),
         stride_of<typename kernel::StrideA>(p.lda, p.stride_a),
         static_cast<const Element*>(args.b),
         stride_of<typename kernel::StrideB>(p.ldb, p.stride_b)},
        {{}, c, strides, c, strides},
        {d.ordinal, static_cast<int>(d.multiprocessors)}};
    arguments.epilogue.thread.alpha = static_cast<float>(p.alpha);
    arguments.epilogue.thread.beta = static_cast<float>(p.beta);
    return arguments;
  }
};

}  // namespace zoo_cutlass
