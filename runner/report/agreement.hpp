#pragma once
// Findings of the checks: verdicts and errors of each kernel, and how all agree with each other.

#include "report/page.hpp"
#include "results/document.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::report {

// How a result compares with the others of its problem, or of several problems.
struct agreed {
  std::size_t pairs = 0, agreeing = 0;
  double of_allowed = 0;  // the largest difference, over what rounding allows

  void add(const reference::comparison& c);
  void add(const agreed& other);
};
// For each cell of the problem, by position.
std::vector<agreed> agreement_of_cells(const results::document& d, std::size_t problem);
agreed agreement_of_all(const results::document& d);
// "=" where it is bit-identical to all, "8%" of what rounding allows, "x 3 of 40".
table::field agreement_field(const agreed& a);

// The kernels in the order of the cells, and the worst of each pair of them, smaller index first,
// over all problems that both ran.
struct agreement_matrix {
  std::vector<std::string> names;
  std::map<std::pair<std::size_t, std::size_t>, agreed> entries;
};
agreement_matrix agreement_of(const results::document& d);

// A wider matrix is unreadable and left out; disagreements are listed anyway.
inline constexpr std::size_t kLargestMatrix = 48;

// The N x N matrix, each entry the worst over the problems that both kernels ran; then the pairs
// that disagree, with the element. Adds nothing when no two results were compared. Markdown gets
// the pairs only, since the matrix is too wide.
void add_agreement(page& p, const results::document& d);

// A row for each kernel with its verdicts, its largest rounding error and its agreement with the
// others; those that decline every problem are left out. `wanted`: the plugins to show; empty: all.
table checks_table(const results::document& d,
                   const std::function<bool(const std::string&)>& wanted = {});

}  // namespace kzoo::report
