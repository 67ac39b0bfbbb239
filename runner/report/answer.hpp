#pragma once
// What a run comes to, in a few sentences, before any table.

#include "report/focus.hpp"

#include <string>
#include <vector>

namespace kzoo::report {

struct answer {
  bool right = false;    // nothing failed, and something passed
  std::string verdicts;  // "27 pass, 1 wrong: mine:16x16 on 64x64x64 f32"
  // What is wrong, of the first kernels that failed; then the sources that declined every problem.
  std::vector<std::string> failures;
  std::string speed;       // the fastest kernel, or the subject's place, and by how much
  std::string conditions;  // the device, and how it was measured
};
answer answer_of(const results::document& d, const focus& f);

// "27 pass, 1 wrong, 2 of 30 cells not run".
std::string verdict_counts(const results::document& d);

// "1.05x to 1.07x"; "" where there is no interval.
std::string interval_text(const timing::ratio& r);

// What limits the speed of a timed kernel, as far as its cell says: its share of the roofline, the
// clock and the power, and the resources that bound how many warps an SM holds. A sentence each.
std::vector<std::string> limits_of(const results::document& d, const results::cell& c);

}  // namespace kzoo::report
