#include "results/cell.hpp"

#include <algorithm>

namespace kzoo::results {
namespace {

// The comparison of a result with itself.
constexpr reference::comparison kNone{0, 0, 0, 0, true};

}  // namespace

void for_each_pair(std::span<const cell> of_one_problem,
                   const std::function<void(const compared_pair&)>& f) {
  const auto first_of_class = [&](std::size_t i) { return of_one_problem[i].same_as.value_or(i); };
  for (std::size_t b = 1; b < of_one_problem.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const auto [first, second] = std::minmax({first_of_class(a), first_of_class(b)});
      if (first == second) {
        f({a, b, kNone});
        continue;
      }
      const auto& known = of_one_problem[second].differences;
      const auto found = std::ranges::find(known, first, &difference::from);
      if (found != known.end()) f({a, b, found->by});
    }
  }
}

}  // namespace kzoo::results
