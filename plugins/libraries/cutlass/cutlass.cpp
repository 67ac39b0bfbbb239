// Kernels that CUTLASS composes from its templates, with tiles that its documentation or its
// profiler uses. Nothing of them is written here; what is here fits them to the ABI.

#include "operation.hpp"

#include <kzoo/plugin.hpp>

#include <cstddef>

namespace {

using zoo_cutlass::operation;

template <const operation& kOperation, class Type, kzoo::layout kLayout, unsigned kCapability>
class cutlass_variant {
 public:
  using types = kzoo::types<Type>;
  using layouts = kzoo::layouts<kLayout>;
  static constexpr bool batches = true;
  static constexpr unsigned compute_capability = kCapability;

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return kOperation.workspace_bytes(p, d);
  }

  cutlass_variant(const kzoo_problem& p, const kzoo_device& d) : problem_(p), device_(d) {}

  template <class Gemm>
  void run(const Gemm& g, const kzoo_arguments& args) const {
    kzoo_problem p = problem_;
    p.alpha = alpha_of(g);  // times the scales of fp8 matrices
    kOperation.run(p, device_, args);
  }

 private:
  template <class Of>
  static double alpha_of(const kzoo::gemm<Of, kLayout>& g) {
    return g.alpha;
  }
  template <class Of>
  static double alpha_of(const kzoo::gemm_batch<Of, kLayout>& batch) {
    return batch.first.alpha;
  }

  kzoo_problem problem_;
  kzoo_device device_;
};

// Sizes along which operands lie in memory, in copies of 16 bytes.
template <class Variant, unsigned kN, unsigned kK>
struct copies_16_bytes : Variant {
  using Variant::Variant;
  static constexpr kzoo::granularity granularity{.n = kN, .k = kK, .row_bytes = 16};
};

template <class Variant, kzoo_precision kPrecision>
struct computes_in : Variant {
  using Variant::Variant;
  static constexpr kzoo_precision precision = kPrecision;
};
template <class Variant>
using in_tf32 = computes_in<Variant, KZOO_COMPUTE_TF32>;
template <class Variant>
using in_fp8 = computes_in<Variant, KZOO_COMPUTE_FP8>;

// Groups of rows, and nothing else.
template <const operation& kOperation>
class grouped_variant {
 public:
  using types = kzoo::types<__nv_bfloat16>;
  using layouts = kzoo::layouts<kzoo::layout::nt>;
  static constexpr bool groups = true;
  static constexpr unsigned compute_capability = 90;

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    return kOperation.workspace_bytes(p, d);
  }

  grouped_variant(const kzoo_problem& p, const kzoo_device& d) : problem_(p), device_(d) {}

  void run(const kzoo::grouped_gemm<__nv_bfloat16, kzoo::layout::nt>&,
           const kzoo_arguments& args) const {
    kOperation.run(problem_, device_, args);
  }

 private:
  kzoo_problem problem_;
  kzoo_device device_;
};

// wgmma and TMA are of sm_90 alone.
template <class Variant>
struct on_sm_90 : Variant {
  using Variant::Variant;
  static const char* supports(const kzoo_device& d) {
    return d.compute_capability / 10 == 9 ? nullptr : "it needs sm_90: wgmma is not on later GPUs";
  }
};

using kzoo::layout;
using fp8_to_bf16 = kzoo::to<__nv_fp8_e4m3, __nv_bfloat16>;

using simt = cutlass_variant<zoo_cutlass::kSimt, float, layout::nn, 80>;
using tensor_op_tf32 = in_tf32<
    copies_16_bytes<cutlass_variant<zoo_cutlass::kTensorOpTf32, float, layout::nn, 80>, 4, 4>>;
using tensor_op_bf16 =
    copies_16_bytes<cutlass_variant<zoo_cutlass::kTensorOpBf16, __nv_bfloat16, layout::nn, 80>, 8,
                    8>;
template <const operation& kOperation>
using warp_specialized_bf16 =
    on_sm_90<copies_16_bytes<cutlass_variant<kOperation, __nv_bfloat16, layout::nn, 90>, 8, 8>>;
template <const operation& kOperation>
using grouped_bf16 = on_sm_90<copies_16_bytes<grouped_variant<kOperation>, 8, 8>>;
using warp_specialized_tf32 = in_tf32<on_sm_90<
    copies_16_bytes<cutlass_variant<zoo_cutlass::kCooperativeTf32, float, layout::nt, 90>, 4, 4>>>;
using warp_specialized_fp8 = in_fp8<on_sm_90<copies_16_bytes<
    cutlass_variant<zoo_cutlass::kCooperativeFp8, fp8_to_bf16, layout::nt, 90>, 8, 16>>>;

}  // namespace

KZOO_PLUGIN(
    "cutlass", "NVIDIA CUTLASS",
    kzoo::variant<simt>("simt_128x256x8", "CUDA cores, five cp.async stages"),
    kzoo::variant<tensor_op_tf32>("tensor_op_tf32_128x256x16", "mma.sync in TF32, four stages"),
    kzoo::variant<tensor_op_bf16>("tensor_op_bf16_128x256x32", "mma.sync in bf16, three stages"),
    kzoo::variant<warp_specialized_bf16<zoo_cutlass::kCooperativeBf16>>(
        "cooperative_bf16_128x256x64",
        "wgmma and TMA, two warpgroups on each tile, clusters of two blocks"),
    kzoo::variant<warp_specialized_bf16<zoo_cutlass::kPingpongBf16>>(
        "pingpong_bf16_128x128x64",
        "wgmma and TMA, two warpgroups that take turns, clusters of two blocks"),
    kzoo::variant<warp_specialized_tf32>(
        "cooperative_tf32_128x256x32",
        "wgmma and TMA in TF32, two warpgroups on each tile, clusters of two blocks"),
    kzoo::variant<warp_specialized_fp8>(
        "cooperative_fp8_128x128x128",
        "wgmma and TMA in e4m3, sums of 128 products added in fp32, clusters of two blocks"),
    kzoo::variant<grouped_bf16<zoo_cutlass::kGroupedCooperativeBf16>>(
        "grouped_cooperative_bf16_128x256x64",
        "groups of rows, two warpgroups on each tile, clusters of two blocks"),
    kzoo::variant<grouped_bf16<zoo_cutlass::kGroupedCooperativeAcrossBf16>>(
        "grouped_cooperative_bf16_128x256x64_1x2",
        "the same with the blocks of a cluster side by side"),
    kzoo::variant<grouped_bf16<zoo_cutlass::kGroupedPingpongBf16>>(
        "grouped_pingpong_bf16_128x128x64",
        "groups of rows, two warpgroups that take turns, clusters of two blocks"));
