#include "reference/epilogue.hpp"

#include "core/operands.hpp"
#include "reference/tolerance.hpp"

#include <cmath>
#include <vector>

namespace kzoo::reference {

applied_epilogue::applied_epilogue(const problem& p)
    : stages{},
      m(p.m),
      activation(p.dtype.c == KZOO_F32 ? kActivation : kNarrowActivation),
      start_walk(kWalk * std::sqrt(static_cast<double>(p.k))) {
  const std::vector<named_operand> operands = epilogue_operands(p);
  auto next = operands.begin();
  for (const epilogue_stage& stage : p.epilogue) {
    applied_stage& to = stages[static_cast<std::size_t>(count++)];
    to.what = stage.what;
    // Rounded as in a kernel; volatile, since g++ 12 drops such a pair of conversions at -O2.
    const volatile float low = static_cast<float>(stage.low);
    const volatile float high = static_cast<float>(stage.high);
    to.low = low;
    to.high = high;
    if (has_operand(stage.what)) to.operand = (next++)->stored;
  }
}

}  // namespace kzoo::reference
