#include "compare/rank.hpp"

#include <algorithm>

namespace kzoo::compare {

std::vector<ranking> rank(const results::document& d, const std::string& baseline) {
  std::vector<ranking> rankings;
  for (const results::cell& c : d.cells) {
    const results::cell* base = d.baseline_of(c, baseline);
    if (base == nullptr) continue;
    if (rankings.empty() || rankings.back().problem != c.problem) {
      rankings.push_back({c.problem, {}});
    }
    rankings.back().places.push_back({&c, d.ratio_of(*base, c), base == &c});
  }
  for (ranking& r : rankings) {
    std::ranges::stable_sort(r.places, {}, [](const place& p) { return p.cell->time->median_ms; });
  }
  return rankings;
}

}  // namespace kzoo::compare
