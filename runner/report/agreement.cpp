#include "report/agreement.hpp"

#include "core/operands.hpp"
#include "os/text.hpp"
#include "reference/places.hpp"
#include "report/problem_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace kzoo::report {
namespace {

using results::compared_pair;
using results::document;

constexpr std::size_t kMaxListed = 10;

table::field field_of(const agreed& a, const std::string& disagree, const char* unit) {
  if (a.agreeing < a.pairs) return {disagree, style::bad};
  if (a.of_allowed == 0) return {"=", style::good};
  return {fmt::format("{:.0f}{}", std::ceil(100 * a.of_allowed), unit), style::good};
}

// Skips kernels whose verdicts imply the disagreement.
void add_disagreements(page& p, const document& d) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    const auto cells = d.cells_of(i);
    results::for_each_pair(cells, [&](const compared_pair& pair) {
      const reference::comparison& by = pair.difference;
      const auto is_wrong = [&](std::size_t which) {
        return cells[which].verdict == verdict::wrong;
      };
      if (by.agree || is_wrong(pair.a) || is_wrong(pair.b) || ++count > kMaxListed) return;
      const problem& q = d.experiment.problems[i];
      p.item("disagree", style::bad, " {} and {} differ by {:.3g} at {} of {}",
             cells[pair.a].kernel.name(), cells[pair.b].kernel.name(), by.max_abs_diff,
             reference::place_name(operands_of(q).c, by.worst_row, by.worst_col), problem_name(q));
    });
  }
  if (count > kMaxListed) p.item(fmt::format("… and {} more pairs", count - kMaxListed));
}

table table_of(const agreement_matrix& m) {
  table t;
  t.add_column("", table::align::left);
  for (std::size_t i = 0; i < m.names.size(); ++i) t.add_column(fmt::format("{}", i + 1));
  for (std::size_t i = 0; i < m.names.size(); ++i) {
    std::vector<table::field> row{{fmt::format("{:2} {}", i + 1, m.names[i])}};
    for (std::size_t j = 0; j < m.names.size(); ++j) {
      const auto found = m.entries.find(std::minmax(i, j));
      row.push_back(i == j                     ? table::field{"·", style::dim}
                    : found == m.entries.end() ? table::field{}
                                               : field_of(found->second, "x", ""));
    }
    t.add_row(std::move(row));
  }
  return t;
}

using results::cell;

struct checked_kernel {
  std::string name, plugin;
  // The text has " (bf16)" if the cell passed in a lower precision.
  std::map<std::pair<verdict, std::string>, std::size_t> verdicts;
  bool passed = true;
  const cell* least_accurate = nullptr;
  agreed others;
};

// Compares by the larger error; rounding errors count more than exact integers.
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
    add_item(text, fmt::format("{} {}{}", count, name_of(what.first), what.second));
  return {text, k.passed ? style::good : style::bad};
}

}  // namespace

void agreed::add(const reference::comparison& c) {
  ++pairs;
  agreeing += c.agree ? 1 : 0;
  // A NaN difference is worse than any number.
  of_allowed = std::max(of_allowed, std::isnan(c.worst_of_allowed) ? INFINITY : c.worst_of_allowed);
}

void agreed::add(const agreed& other) {
  pairs += other.pairs;
  agreeing += other.agreeing;
  of_allowed = std::max(of_allowed, other.of_allowed);
}

std::vector<agreed> agreement_of_cells(const document& d, std::size_t problem) {
  const auto cells = d.cells_of(problem);
  std::vector<agreed> all(cells.size());
  results::for_each_pair(cells, [&](const compared_pair& pair) {
    all[pair.a].add(pair.difference);
    all[pair.b].add(pair.difference);
  });
  return all;
}

agreed agreement_of_all(const document& d) {
  agreed all;
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i)
    results::for_each_pair(d.cells_of(i),
                           [&](const compared_pair& pair) { all.add(pair.difference); });
  return all;
}

table::field agreement_field(const agreed& a) {
  if (a.pairs == 0) return {};
  return field_of(a, fmt::format("x {} of {}", a.pairs - a.agreeing, a.pairs), "%");
}

agreement_matrix agreement_of(const document& d) {
  agreement_matrix m;
  std::map<std::string, std::size_t> known;
  const auto index_of = [&](const results::cell& c) {
    const auto [found, is_new] = known.emplace(c.kernel.name(), m.names.size());
    if (is_new) m.names.push_back(found->first);
    return found->second;
  };
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    const auto cells = d.cells_of(i);
    std::vector<std::optional<std::size_t>> indices(cells.size());
    const auto index_at = [&](std::size_t position) {
      auto& index = indices[position];
      if (!index) index = index_of(cells[position]);
      return *index;
    };
    results::for_each_pair(cells, [&](const compared_pair& pair) {
      const std::size_t a = index_at(pair.a), b = index_at(pair.b);
      m.entries[std::minmax(a, b)].add(pair.difference);
    });
  }
  return m;
}

void add_agreement(page& p, const document& d) {
  const agreement_matrix worst = agreement_of(d);
  if (worst.entries.empty()) return;
  if (const agreed all = agreement_of_all(d); p.is_html() && all.agreeing == all.pairs) {
    p.line("Agreement", style::bold, ": {} {}",
           all.pairs == 1 ? "the two results" : fmt::format("all {} pairs of results", all.pairs),
           all.of_allowed == 0 ? "are bit-identical"
                               : fmt::format("agree, within {} of what rounding allows",
                                             agreement_field(all).text));
    return;
  }
  if (!p.is_markdown() && worst.names.size() <= kLargestMatrix) {
    p.line("Agreement", style::bold,
           ", worst over all problems: = bit-identical, else the difference in percent of what "
           "rounding allows, x beyond that");
    const table matrix = table_of(worst);
    if (p.has_room_for(matrix)) {
      p.add(matrix);
    } else {
      p.item(fmt::format("no room for its {} columns (--wide)", worst.names.size()), style::dim,
             "");
    }
  }
  add_disagreements(p, d);
  p.end_section();
}

table checks_table(const document& d, const std::function<bool(const std::string&)>& wanted) {
  table t;
  for (const checked_kernel& k : all_of(d)) {
    if (wanted && !wanted(k.plugin)) continue;
    t.add_entries(
        {{"kernel", k.name, table::align::left},
         {"problems", verdicts_field(k), table::align::left},
         {kErrorTitle, k.least_accurate != nullptr ? accuracy_text(d, *k.least_accurate) : ""},
         {"agreement", agreement_field(k.others)}});
  }
  return t;
}

}  // namespace kzoo::report
