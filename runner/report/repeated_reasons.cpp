#include "report/repeated_reasons.hpp"

#include <utility>

namespace kzoo::report {

std::size_t shared_reason::cells() const {
  std::size_t count = 0;
  for (const auto& [kernel, on] : problems) count += on.size();
  return count;
}

std::vector<shared_reason> shared_reasons(const results::document& d) {
  std::vector<shared_reason> all;
  std::map<std::pair<kzoo::verdict, std::string>, std::size_t> places;  // in that list
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    for (const reason& r : reasons(d, i)) {
      if (r.errors) continue;
      const auto [place, is_new] = places.try_emplace({r.verdict, r.text}, all.size());
      if (is_new) all.push_back({r.verdict, r.text, {}, {}});
      shared_reason& shared = all[place->second];
      for (const std::string& name : r.kernels) {
        if (!shared.problems.contains(name)) shared.kernels.push_back(name);
        shared.problems[name].push_back(i);
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
