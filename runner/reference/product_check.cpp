#include "reference/product_check.hpp"

#include <cmath>
#include <vector>

namespace kzoo::reference {

product_check::product_check(const problem& p, kzoo_precision declared)
    : of(operands_of(p)),
      m(p.m),
      n(p.n),
      k(p.k),
      batch(p.batch),
      by(held_scalars(p)),
      within(p, declared),
      after(p),
      integers(is_integer(p.dtype)),
      exact(false),
      exact_c(false),
      own_unit(0x1p-53),
      root_k(std::sqrt(static_cast<double>(p.k))),
      root_n(std::sqrt(static_cast<double>(p.n))) {
  const double start = by.beta == 0.0 ? 0.0 : std::abs(by.beta) * data::norm_of(of.c);
  exact = p.data.spread == 0 && within.holds_exactly(std::abs(by.alpha) * static_cast<double>(k) *
                                                         data::norm_of(of.a) * data::norm_of(of.b) +
                                                     start);
  exact_c = exact && p.data.kind == fill::signs && p.alpha == 1.0 && p.beta == 0.0;
}

void product_check::set_late_row(std::uint64_t key, std::int64_t row) {
  const auto set = [key, row](data::matrix& x) {
    if (x.key == key) x.late_row = row;
  };
  set(of.a);
  set(of.b);
  set(of.a.scales);
  set(of.b.scales);
  for (applied_stage& stage : after.stages) set(stage.operand);
}

applied_epilogue::applied_epilogue(const problem& p)
    : stages{},
      m(p.m),
      activation(p.dtype.c == KZOO_F32 ? kActivation : kNarrowActivation),
      start_walk(kWalk * std::sqrt(static_cast<double>(p.k))) {
  const std::vector<named_operand> operands = epilogue_operands(p);
  auto next = operands.begin();
  for (const epilogue_stage& stage : p.epilogue) {
    applied_stage& to = stages[static_cast<std::size_t>(count++)];
    to.kind = stage.kind;
    // Rounded as in a kernel; volatile, since g++ 12 drops such a pair of conversions at -O2.
    const volatile float low = static_cast<float>(stage.low);
    const volatile float high = static_cast<float>(stage.high);
    to.low = low;
    to.high = high;
    if (has_operand(stage.kind)) to.operand = (next++)->stored;
  }
}

}  // namespace kzoo::reference
