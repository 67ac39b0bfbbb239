#include "report/agreement.hpp"

#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace kzoo::report {
namespace {

using results::agreement;
using results::document;

// A wider matrix is unreadable and left out; disagreements are listed anyway.
constexpr std::size_t kLargestMatrix = 32;
constexpr std::size_t kMaxListed = 10;

struct worst {
  double of_allowed = 0;
  bool agree = true;

  void add(const reference::comparison& c) {
    // A NaN difference is worse than any number.
    const double x = std::isnan(c.worst_of_allowed) ? INFINITY : c.worst_of_allowed;
    of_allowed = std::max(of_allowed, x);
    agree = agree && c.agree;
  }
};

table::field field_of(const worst& w) {
  if (!w.agree) return {"x", style::bad};
  if (w.of_allowed == 0) return {"=", style::good};
  return {fmt::format("{:.0f}", std::ceil(100 * w.of_allowed)), style::good};
}

void add_disagreements(page& p, const document& d) {
  std::size_t count = 0;
  for (const agreement& a : d.agreements) {
    if (a.difference.agree || ++count > kMaxListed) continue;
    p.item("disagree", style::bad,
           fmt::format(" {} and {} differ by {:.3g} at row {}, column {} of {}", a.a, a.b,
                       a.difference.max_abs_diff, a.difference.worst_row, a.difference.worst_col,
                       problem_name(d.experiment.problems[a.problem])));
  }
  if (count > kMaxListed) p.item(fmt::format("… and {} more pairs", count - kMaxListed));
}

// One entry for each pair of kernels, in the order of the cells.
table matrix_of(const document& d) {
  std::vector<std::string> names;
  const auto index_of = [&](const std::string& name) {
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    names.push_back(name);
    return names.size() - 1;
  };
  std::map<std::pair<std::size_t, std::size_t>, worst> entries;
  for (const agreement& a : d.agreements) {
    const auto [low, high] = std::minmax({index_of(a.a), index_of(a.b)});
    entries[{low, high}].add(a.difference);
  }

  table t;
  t.add_column("", table::align::left);
  for (std::size_t i = 0; i < names.size(); ++i) t.add_column(fmt::format("{}", i + 1));
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<table::field> row{{fmt::format("{:2} {}", i + 1, names[i])}};
    for (std::size_t j = 0; j < names.size(); ++j) {
      const auto found = entries.find(std::minmax({i, j}));
      row.push_back(i == j                   ? table::field{"·", style::dim}
                    : found == entries.end() ? table::field{}
                                             : field_of(found->second));
    }
    t.add_row(std::move(row));
  }
  return t;
}

}  // namespace

void add_agreement(page& p, const document& d) {
  if (d.agreements.empty()) return;
  const table matrix = matrix_of(d);
  if (!p.is_markdown() && matrix.rows() <= kLargestMatrix) {
    p.line("Agreement", style::bold,
           ", worst over all problems: = bit-identical, else the difference in percent of what "
           "rounding allows, x beyond that");
    p.add(matrix);
  }
  add_disagreements(p, d);
  p.end_section();
}

}  // namespace kzoo::report
