#pragma once
// fp32 matrices multiplied as TF32. wgmma takes operands of 32 bits from shared memory only with K
// along their rows:
//
//   nt   both have: as matrices of 16 bits
//   tt   A comes from registers
//   nn   B comes from registers: C^T = B^T A^T, and C is stored transposed
//   tn   A comes from registers, B is transposed on its way into the workspace

#include "from_registers.hpp"
#include "variant.hpp"

namespace persistent {

struct kernel_from_registers : own_kernel {
  template <class G>
  using argument = gemm_from_registers;
};

template <class Tile>
class tf32_variant : public wgmma::hopper_variant {
  template <class OfTile, kzoo::layout kLayout, class Kernel>
  struct product : variant<OfTile, kzoo::types<float>, kzoo::layouts<kLayout>, Kernel> {
    using base = variant<OfTile, kzoo::types<float>, kzoo::layouts<kLayout>, Kernel>;
    using base::after_sums;
    using base::clusters_of;
    using base::multiply;
    using base::sum_bytes;

    product(kzoo_problem p, const kzoo_device& d) : base(with_layout(p), d) {}

   private:
    static kzoo_problem with_layout(kzoo_problem p) {
      p.layout_a = kzoo::is_a_transposed(kLayout) ? KZOO_COLUMN_MAJOR : KZOO_ROW_MAJOR;
      p.layout_b = kzoo::is_b_transposed(kLayout) ? KZOO_COLUMN_MAJOR : KZOO_ROW_MAJOR;
      return p;
    }
  };
  using shared_product = product<Tile, kzoo::layout::nt, own_kernel>;
  using register_product = product<from_registers<Tile>, kzoo::layout::tt, kernel_from_registers>;
  using copy = common::padded_copy<float>;

 public:
  using types = kzoo::types<float>;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_TF32;

  tf32_variant(const kzoo_problem& p, const kzoo_device& d)
      : from_shared_(p, d),
        from_registers_(p, d),
        multiprocessors_(static_cast<int>(d.multiprocessors)) {}

  // A transposing launch has a row of blocks for every kSide along K; gridDim.y is 65535 at most.
  static const char* supports(const kzoo_device& d) { return hopper_variant::supports(d); }
  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    constexpr std::int64_t kMost = std::int64_t{65535} * common::kSide;
    return p.k <= kMost || kzoo::layout_of(p) != kzoo::layout::tn
               ? nullptr
               : "K is too large to transpose an operand";
  }

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    const bool swaps = kzoo::layout_of(p) == kzoo::layout::nn;
    const bool transposes = kzoo::layout_of(p) == kzoo::layout::tn;
    const auto needs = [&](std::int64_t row_length, std::int64_t, kzoo_type type) {
      return common::needs_copy(p, row_length, type);
    };
    return shared_product::sum_bytes(schedule<Tile>(swaps ? p.n : p.m, swaps ? p.m : p.n, p.k,
                                                    shared_product::clusters_of(d), true)) +
           common::copies_bytes(p, needs) + (transposes ? copy::bytes(p.n, p.k) : 0);
  }

  template <class G>
  void run(const G& g, const kzoo_arguments& arguments) const {
    if constexpr (!G::kATransposed && G::kBTransposed) {
      multiply(from_shared_, g, arguments);
    } else if constexpr (!G::kATransposed) {
      const gemm_from_registers of{
          {g.n, g.m, g.k, g.ldb, g.lda, g.ldc, g.b, g.a, g.c, g.alpha, g.beta}, true};
      multiply(from_registers_, of, arguments);
    } else if constexpr (G::kBTransposed) {
      multiply(from_registers_, gemm_from_registers{g, false}, arguments);
    } else {
      gemm_from_registers of{
          {g.m, g.n, g.k, g.lda, copy::padded(g.k), g.ldc, g.a, nullptr, g.c, g.alpha, g.beta},
          false};
      const copy b{common::b_of(g),
                   reinterpret_cast<float*>(from_registers_.after_sums(of, arguments))};
      common::launch_transposed_copy(b, static_cast<kzoo::stream_t>(arguments.stream));
      of.b = b.to;
      multiply(from_registers_, of, arguments, copy::bytes(g.n, g.k));
    }
  }

 private:
  // The product of operands that TMA can address: others are copied, behind the sums and the
  // `transposed` bytes that a launch before leaves there.
  template <class Product, class G>
  void multiply(const Product& by, const G& g, const kzoo_arguments& arguments,
                std::size_t transposed = 0) const {
    const auto needs = [](const auto& operand) {
      return !kzoo::tma_addressable(operand.data, operand.row_length);
    };
    bool copied = false;
    const G of =
        common::with_copies(g, needs, by.after_sums(g, arguments) + transposed, multiprocessors_,
                            static_cast<kzoo::stream_t>(arguments.stream), copied);
    by.multiply(of, arguments, copied || transposed > 0);
  }

  shared_product from_shared_;       // nt
  register_product from_registers_;  // all others
  int multiprocessors_;
};

}  // namespace persistent
