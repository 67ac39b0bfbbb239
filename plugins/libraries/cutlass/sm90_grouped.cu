// Groups of rows, as CUTLASS's grouped GEMM: a list of products, each with a shape, addresses and
// strides of its own. All of these may be in device memory, which is where groups begin: a kernel
// before CUTLASS's makes the lists from the offsets.

#include <kzoo/epilogue.hpp>
#include <kzoo/grouped_gemm.hpp>
#include <kzoo/launch.hpp>

#include <cutlass/gemm/group_array_problem_shape.hpp>

#include <type_traits>
#include <utility>

#include "sm90.hpp"

namespace zoo_cutlass {
namespace {

using namespace cute;
using element = cutlass::bfloat16_t;
using row_major = cutlass::layout::RowMajor;
using column_major = cutlass::layout::ColumnMajor;
using shape = cutlass::gemm::GroupProblemShape<Shape<int, int, int>>;
using one_shape = shape::UnderlyingProblemShape;

template <class StrideA, class StrideB, class StrideC>
struct product_lists {
  one_shape* shapes;
  const element** a;
  const element** b;
  element** c;
  StrideA* strides_a;
  StrideB* strides_b;
  StrideC* strides_c;

  // In this order from `memory` on, each from a multiple of kStart bytes.
  static constexpr std::size_t kStart = 256;
  static std::size_t bytes(std::size_t groups) { return in(nullptr, groups).second; }
  static std::pair<product_lists, std::size_t> in(unsigned char* memory, std::size_t groups) {
    std::size_t used = 0;
    const auto place = [&](auto*& list) {
      list = reinterpret_cast<std::remove_reference_t<decltype(list)>>(memory + used);
      used += (groups * sizeof(*list) + kStart - 1) / kStart * kStart;
    };
    product_lists lists{};
    place(lists.shapes), place(lists.a), place(lists.b), place(lists.c);
    place(lists.strides_a), place(lists.strides_b), place(lists.strides_c);
    return {lists, used};
  }
};

// The group of each thread.
template <class Lists, class Groups, class StrideA, class StrideB, class StrideC>
__global__ void make_lists(Lists lists, Groups groups, StrideA stride_a, StrideB stride_b,
                           StrideC stride_c) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= groups.count) return;
  const auto g = groups[i];
  lists.shapes[i] = make_shape(g.m, g.n, g.k);
  lists.a[i] = reinterpret_cast<const element*>(g.a);
  lists.b[i] = reinterpret_cast<const element*>(g.b);
  lists.c[i] = reinterpret_cast<element*>(g.c);
  lists.strides_a[i] = stride_a;
  lists.strides_b[i] = stride_b;
  lists.strides_c[i] = stride_c;
}

template <class Tile, class Cluster, class MainloopSchedule, class EpilogueSchedule>
struct grouped {
  static constexpr int kAlignment = 16 / sizeof(element);
  using epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
      cutlass::epilogue::collective::EpilogueTileAuto, float, float, element, row_major*,
      kAlignment, element, row_major*, kAlignment, EpilogueSchedule>::CollectiveOp;
  using mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
      cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, element, row_major*, kAlignment, element,
      column_major*, kAlignment, float, Tile, Cluster,
      cutlass::gemm::collective::StageCountAutoCarveout<static_cast<int>(
          sizeof(typename epilogue::SharedStorage))>,
      MainloopSchedule>::CollectiveOp;
  using kernel = cutlass::gemm::kernel::GemmUniversal<shape, mainloop, epilogue>;
  using gemm = cutlass::gemm::device::GemmUniversalAdapter<kernel>;
  using stride_a = typename kernel::InternalStrideA;
  using stride_b = typename kernel::InternalStrideB;
  using stride_c = typename kernel::InternalStrideC;
  using lists = product_lists<stride_a, stride_b, stride_c>;
  using groups_type = kzoo::grouped_gemm<__nv_bfloat16, kzoo::layout::nt>;

  static typename gemm::Arguments arguments(const kzoo_problem& p, const kzoo_device& d,
                                            const lists& of) {
    typename gemm::Arguments arguments{
        cutlass::gemm::GemmUniversalMode::kGrouped,
        {static_cast<int>(p.groups), of.shapes, nullptr},
        {of.a, of.strides_a, of.b, of.strides_b},
        {{}, const_cast<const element**>(of.c), of.strides_c, of.c, of.strides_c},
        {d.ordinal, static_cast<int>(d.multiprocessors)}};
    arguments.epilogue.thread.alpha = static_cast<float>(p.alpha);
    arguments.epilogue.thread.beta = static_cast<float>(p.beta);
    // Tiles with the same columns of B one after the other. CUTLASS would choose by the shapes,
    // which the host does not know.
    arguments.scheduler.raster_order =
        std::remove_reference_t<decltype(arguments.scheduler.raster_order)>::AlongM;
    return arguments;
  }

  // The workspace: the lists, then CUTLASS's.
  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return lists::bytes(static_cast<std::size_t>(p.groups)) +
           gemm::get_workspace_size(arguments(p, d, {}));
  }

  static void run(const kzoo_problem& p, const kzoo_device& d, const kzoo_arguments& args) {
    const auto stream = static_cast<cudaStream_t>(args.stream);
    auto* const workspace = static_cast<unsigned char*>(args.workspace);
    const auto [of, bytes] = lists::in(workspace, static_cast<std::size_t>(p.groups));
    const groups_type groups{{.m = static_cast<int>(p.m),
                              .n = static_cast<int>(p.n),
                              .k = static_cast<int>(p.k),
                              .lda = static_cast<std::ptrdiff_t>(p.lda),
                              .ldb = static_cast<std::ptrdiff_t>(p.ldb),
                              .ldc = static_cast<std::ptrdiff_t>(p.ldc),
                              .a = static_cast<const __nv_bfloat16*>(args.a),
                              .b = static_cast<const __nv_bfloat16*>(args.b),
                              .c = static_cast<__nv_bfloat16*>(args.c),
                              .alpha = 1,
                              .beta = 0},
                             static_cast<int>(p.groups),
                             static_cast<std::ptrdiff_t>(p.stride_b),
                             kzoo::operand<int>(p, args, "offsets")};
    constexpr int kThreads = 128;
    kzoo::launch({.grid = dim3(kzoo::ceil_div(groups.count, kThreads)),
                  .block = dim3(kThreads),
                  .stream = stream},
                 make_lists<lists, groups_type, stride_a, stride_b, stride_c>, of, groups,
                 stride_of<stride_a>(p.lda, 0), stride_of<stride_b>(p.ldb, 0),
                 stride_of<stride_c>(p.ldc, 0));
    const auto products = arguments(p, d, of);
    gemm grouped_gemm;
    check(gemm::can_implement(products), "can_implement");
    check(grouped_gemm.initialize(products, workspace + bytes, stream), "initialize");
    check(grouped_gemm.run(stream), "run");
  }
};

template <class Cluster>
using cooperative = grouped<Shape<_128, _256, _64>, Cluster,
                            cutlass::gemm::KernelPtrArrayTmaWarpSpecializedCooperative,
                            cutlass::epilogue::PtrArrayTmaWarpSpecializedCooperative>;
using pingpong = grouped<Shape<_128, _128, _64>, Shape<_2, _1, _1>,
                         cutlass::gemm::KernelPtrArrayTmaWarpSpecializedPingpong,
                         cutlass::epilogue::PtrArrayTmaWarpSpecializedPingpong>;

template <class Grouped>
constexpr operation operation_of_groups{Grouped::workspace_bytes, Grouped::run};

}  // namespace

const operation kGroupedCooperativeBf16 = operation_of_groups<cooperative<Shape<_2, _1, _1>>>;
const operation kGroupedCooperativeAcrossBf16 = operation_of_groups<cooperative<Shape<_1, _2, _1>>>;
const operation kGroupedPingpongBf16 = operation_of_groups<pingpong>;

}  // namespace zoo_cutlass
