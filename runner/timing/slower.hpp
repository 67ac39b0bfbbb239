#pragma once
// Whether a kernel can still be the fastest.

#include "timing/process_spread.hpp"
#include "timing/summary.hpp"

namespace kzoo::timing {

// Whether `a` is slower than `fastest` beyond doubt: the interval of their ratio, taken within
// their common rounds, lies above 1 + `margin`. False before there is an interval. `between`: what
// differs between the two, where they run in processes of their own.
//
// It is asked after each round, so that chance has several tries. The margin is what makes it safe:
// a kernel that is in truth as fast is excluded only where its interval is wrong by more than that,
// and one within the margin is never excluded.
bool is_slower(const summary& a, const summary& fastest, double margin,
               const process_spread& between);

}  // namespace kzoo::timing
