#pragma once
// Whether a kernel can still be the fastest.

#include "timing/process_spread.hpp"
#include "timing/summary.hpp"

namespace kzoo::timing {

// Whether `a` is certainly slower than `fastest`: the interval of their ratio within common rounds
// lies above 1 + `margin`. False before there is an interval. `between`: differences between
// processes, if the two run in processes of their own.
//
// The question is repeated after each round, so chance has several tries. The margin makes it safe:
// an equally fast kernel is excluded only if its interval is wrong by more than the margin, and a
// kernel within the margin never.
bool is_slower(const summary& a, const summary& fastest, double margin,
               const process_spread& between);

}  // namespace kzoo::timing
