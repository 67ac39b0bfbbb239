#include "report/repeated_reasons.hpp"

#include <algorithm>

namespace kzoo::report {

std::size_t shared_reason::cells() const {
  std::size_t count = 0;
  for (const auto& [kernel, on] : problems) count += on.size();
  return count;
}

std::vector<shared_reason> shared_reasons(const results::document& d) {
  std::vector<shared_reason> all;
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    for (const reason& r : reasons(d, i)) {
      if (r.errors) continue;
      auto at = std::ranges::find_if(
          all, [&](const shared_reason& o) { return o.verdict == r.verdict && o.text == r.text; });
      if (at == all.end()) at = all.insert(at, {r.verdict, r.text, {}, {}});
      for (const std::string& name : r.kernels) {
        if (!at->problems.contains(name)) at->kernels.push_back(name);
        at->problems[name].push_back(i);
      }
    }
  }
  return all;
}

void told_failures::remove_from(std::vector<reason>& reasons) {
  for (reason& r : reasons) {
    if (!is_failure(r.verdict) || r.errors) continue;
    std::erase_if(r.kernels, [&](const std::string& kernel) {
      return !told_.emplace(r.verdict, r.text, kernel).second;
    });
  }
  std::erase_if(reasons, [](const reason& r) { return r.kernels.empty(); });
}

}  // namespace kzoo::report
