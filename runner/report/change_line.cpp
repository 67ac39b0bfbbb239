#include "report/change_line.hpp"

#include "os/number_text.hpp"
#include "os/printable.hpp"
#include "report/focus.hpp"
#include "report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

// The cell of the other document for the same kernel and problem, if it was timed.
const cell* timed_counterpart(const document& d, const std::string& problem,
                              const std::string& kernel) {
  const auto found = std::ranges::find_if(d.cells, [&](const cell& c) {
    return is_timed(c) && c.kernel.name() == kernel && problem_name(d.problem_of(c)) == problem;
  });
  return found == d.cells.end() ? nullptr : &*found;
}

// "; over 4 cells 16.0 % less time than before", "" where nothing can be compared.
std::string change_text(const document& now, const document& before, const std::string& plugin) {
  double sum = 0;
  std::size_t count = 0;
  for (const cell& c : now.cells) {
    if (c.kernel.plugin != plugin || !is_timed(c)) continue;
    const cell* was = timed_counterpart(before, problem_name(now.problem_of(c)), c.kernel.name());
    if (was == nullptr) continue;
    sum += std::log(c.time->median_ms / was->time->median_ms);
    ++count;
  }
  if (count == 0) return "";
  const double ratio = std::exp(sum / static_cast<double>(count));
  const double percent = 100 * std::abs(ratio - 1);
  constexpr double kShown = 0.05;
  const std::string where = count == 1 ? "; " : fmt::format("; over {} cells ", count);
  if (percent < kShown) return where + "no other time than before";
  return fmt::format("{}{:.1f} % {} time than before", where, percent, ratio < 1 ? "less" : "more");
}

}  // namespace

bool all_right(const document& d, const std::string& plugin) {
  bool any = false;
  for (const cell& c : d.cells) {
    if (c.kernel.plugin != plugin) continue;
    if (is_failure(c.verdict)) return false;
    any = any || c.verdict == verdict::pass;
  }
  return any;
}

std::string change_line(const document& now, const document* before, const std::string& plugin) {
  std::string counts, first_failure;
  const cell* longest = nullptr;
  for (const verdict v : kVerdicts) {
    std::size_t count = 0;
    for (const cell& c : now.cells) {
      if (c.kernel.plugin != plugin || c.verdict != v) continue;
      ++count;
      if (is_failure(v) && first_failure.empty()) {
        first_failure = fmt::format("; {} on {}: {}", c.kernel.name(),
                                    problem_name(now.problem_of(c)), printable(c.reason));
      }
      if (is_timed(c) && (longest == nullptr || c.time->median_ms > longest->time->median_ms))
        longest = &c;
    }
    if (count > 0) add_item(counts, fmt::format("{} {}", count, verdict_name(v)));
  }
  std::string line = fmt::format("{}: {}", plugin, counts.empty() ? "nothing ran" : counts);
  if (longest != nullptr) {
    const std::string problem = problem_name(now.problem_of(*longest));
    line += fmt::format("; {} {}", problem, time_text(longest->time->median_ms));
    if (before != nullptr) {
      const cell* was = timed_counterpart(*before, problem, longest->kernel.name());
      if (was != nullptr) line += ", was " + time_text(was->time->median_ms);
      line += change_text(now, *before, plugin);
    }
  }
  return line + first_failure;
}

}  // namespace kzoo::report
