#include "results/agreement.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace kzoo::results {
namespace {

bool same(const reference::comparison& x, const reference::comparison& y) {
  const auto equal = [](double p, double q) { return p == q || (p != p && q != q); };
  return equal(x.max_abs_diff, y.max_abs_diff) && equal(x.worst_of_allowed, y.worst_of_allowed) &&
         x.worst_row == y.worst_row && x.worst_col == y.worst_col && x.agree == y.agree;
}

// What comparing a result with itself gives.
constexpr reference::comparison kNone{0, 0, 0, 0, true};

// Pairs by their positions, in either order.
class pair_table {
 public:
  explicit pair_table(const std::vector<compared_pair>& pairs) {
    for (const compared_pair& p : pairs) by_position_.emplace(std::minmax(p.a, p.b), p.difference);
  }
  const reference::comparison* find(std::size_t a, std::size_t b) const {
    const auto found = by_position_.find(std::minmax(a, b));
    return found == by_position_.end() ? nullptr : &found->second;
  }
  // x and y are equal, and every other result is as far from the one as from the other.
  bool in_one_class(std::size_t x, std::size_t y, std::size_t results) const {
    const reference::comparison* between = find(x, y);
    if (between == nullptr || !same(*between, kNone)) return false;
    for (std::size_t z = 0; z < results; ++z) {
      if (z == x || z == y) continue;
      const reference::comparison *of_x = find(x, z), *of_y = find(y, z);
      if ((of_x == nullptr) != (of_y == nullptr)) return false;
      if (of_x != nullptr && !same(*of_x, *of_y)) return false;
    }
    return true;
  }

 private:
  std::map<std::pair<std::size_t, std::size_t>, reference::comparison> by_position_;
};

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

void form_classes(std::span<cell> of_one_problem, const std::vector<compared_pair>& pairs) {
  const pair_table table(pairs);
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i < of_one_problem.size(); ++i) {
    const auto mine = std::ranges::find_if(firsts, [&](std::size_t first) {
      return table.in_one_class(first, i, of_one_problem.size());
    });
    if (mine != firsts.end()) {
      of_one_problem[i].same_as = *mine;
      continue;
    }
    for (const std::size_t first : firsts) {
      if (const auto* by = table.find(first, i))
        of_one_problem[i].differences.push_back({first, *by});
    }
    firsts.push_back(i);
  }
}

}  // namespace kzoo::results
