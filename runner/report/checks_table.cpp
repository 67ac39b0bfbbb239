#include "report/checks_table.hpp"

#include "os/number_text.hpp"
#include "report/agreement.hpp"
#include "report/problem_table.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

// What is known of one kernel.
struct checked_kernel {
  std::string name, plugin;
  // With " (bf16)" where it passed in a lower precision.
  std::map<std::pair<verdict, std::string>, std::size_t> verdicts;
  bool passed = true;
  const cell* least_accurate = nullptr;
  agreed others;
};

// Of two cells, the one with the larger error; rounding errors count more than exact integers.
bool is_worse(const document& d, const cell& c, const cell* than) {
  if (!c.accuracy) return false;
  if (than == nullptr) return true;
  const bool exact = is_integer(d.problem_of(c).dtype);
  if (exact != is_integer(d.problem_of(*than).dtype)) return !exact;
  return c.accuracy->rho_over_sqrt_k > than->accuracy->rho_over_sqrt_k;
}

std::vector<checked_kernel> all_of(const document& d) {
  std::vector<checked_kernel> all;
  std::map<std::string, std::size_t> known;
  for (std::size_t problem = 0; problem < d.experiment.problems.size(); ++problem) {
    const auto cells = d.cells_of(problem);
    const std::vector<agreed> others = agreement_of_cells(d, problem);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const cell& c = cells[i];
      if (is_declined(c.verdict)) continue;
      const auto [at, is_new] = known.emplace(c.kernel.name(), all.size());
      if (is_new) all.push_back({at->first, c.kernel.plugin, {}, true, nullptr, {}});
      checked_kernel& k = all[at->second];
      ++k.verdicts[{c.verdict, lower_mark(d, c)}];
      k.passed = k.passed && c.verdict == verdict::pass;
      k.others.add(others[i]);
      if (is_worse(d, c, k.least_accurate)) k.least_accurate = &c;
    }
  }
  return all;
}

table::field verdicts_field(const checked_kernel& k) {
  std::string text;
  for (const auto& [what, count] : k.verdicts)
    add_item(text, fmt::format("{} {}{}", count, verdict_name(what.first), what.second));
  return {text, k.passed ? style::good : style::bad};
}

}  // namespace

table checks_table(const document& d, const std::function<bool(const std::string&)>& wanted) {
  table t;
  t.add_columns({"kernel", "problems"}, table::align::left);
  t.add_columns({kErrorTitle, "agreement"});
  for (const checked_kernel& k : all_of(d)) {
    if (wanted && !wanted(k.plugin)) continue;
    t.add_row({{k.name},
               verdicts_field(k),
               {k.least_accurate != nullptr ? accuracy_text(d, *k.least_accurate) : ""},
               agreement_field(k.others)});
  }
  return t;
}

}  // namespace kzoo::report
