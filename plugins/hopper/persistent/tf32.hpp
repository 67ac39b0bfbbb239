#pragma once
// fp32 matrices multiplied as TF32. wgmma takes operands of 32 bits only with K along their rows,
// so others are transposed on their way into the workspace.

#include "variant.hpp"

namespace persistent {

template <class Tile>
class tf32_variant : public variant<Tile, kzoo::types<float>, kzoo::layouts<kzoo::layout::nt>> {
  using base = variant<Tile, kzoo::types<float>, kzoo::layouts<kzoo::layout::nt>>;
  using along_k = kzoo::gemm<float, kzoo::layout::nt>;
  using copy = common::padded_copy<float>;

 public:
  using layouts = kzoo::every_layout;
  static constexpr kzoo_precision precision = KZOO_COMPUTE_TF32;

  tf32_variant(const kzoo_problem& p, const kzoo_device& d) : base(with_k_along_rows(p), d) {}

  // A transposing launch has a row of blocks for every kSide along K; gridDim.y is 65535 at most.
  static const char* supports(const kzoo_device& d) { return base::supports(d); }
  static const char* supports(const kzoo_problem& p, const kzoo_device&) {
    constexpr std::int64_t kMost = std::int64_t{65535} * common::kSide;
    return p.k <= kMost || kzoo::layout_of(p) == kzoo::layout::nt
               ? nullptr
               : "K is too large to transpose an operand";
  }

  static std::size_t workspace_bytes(const kzoo_problem& p, const kzoo_device& d) {
    const kzoo::layout l = kzoo::layout_of(p);
    std::size_t bytes = base::sum_bytes(schedule<Tile>(p.m, p.n, p.k, base::clusters_of(d), true));
    if (kzoo::is_a_transposed(l) || common::needs_copy(p, p.lda, p.type_a))
      bytes += copy::bytes(p.m, p.k);
    if (!kzoo::is_b_transposed(l) || common::needs_copy(p, p.ldb, p.type_b))
      bytes += copy::bytes(p.n, p.k);
    return bytes;
  }

  template <class G>
  void run(const G& g, const kzoo_arguments& arguments) const {
    const auto stream = static_cast<kzoo::stream_t>(arguments.stream);
    along_k of{g.m, g.n, g.k, g.lda, g.ldb, g.ldc, g.a, g.b, g.c, g.alpha, g.beta};
    auto* to = base::after_sums(g, arguments);
    copy a{}, b{};
    const auto place = [&](copy& c, const auto& from, bool transposed, const float*& data,
                           std::ptrdiff_t& length) {
      if (!transposed && kzoo::tma_addressable(data, length)) return;
      c = {from, reinterpret_cast<float*>(to)};
      data = c.to;
      length = copy::padded(g.k);
      to += copy::bytes(transposed ? from.cols : from.rows, g.k);
      if (!transposed) return;
      common::launch_transposed_copy(c, stream);
      c = {};
    };
    place(a, common::a_of(g), G::kATransposed, of.a, of.lda);
    place(b, common::b_of(g), !G::kBTransposed, of.b, of.ldb);
    if (a.from.rows + b.from.rows > 0) common::launch_copies(a, b, base::multiprocessors(), stream);
    base::multiply(of, arguments, of.a != g.a || of.b != g.b);
  }

 private:
  static kzoo_problem with_k_along_rows(kzoo_problem p) {
    p.layout_a = KZOO_ROW_MAJOR;
    p.layout_b = KZOO_COLUMN_MAJOR;
    return p;
  }
};

}  // namespace persistent
