#include "report/report.hpp"

#include "os/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kzoo::report {

using results::cell;
using results::document;

std::vector<reason> reasons(const document& d, std::size_t problem) {
  std::vector<reason> found;
  for (const cell& c : d.cells_of(problem)) {
    // Without a variant the plugin could not be loaded, which the report's head says once.
    const bool in_head = c.verdict == verdict::unavailable && c.kernel.variant.empty();
    if (c.verdict == verdict::pass || in_head) continue;
    const auto same = std::ranges::find_if(
        found, [&](const reason& r) { return r.verdict == c.verdict && r.text == c.reason; });
    reason& r =
        same == found.end() ? found.emplace_back(reason{c.verdict, {}, c.reason, c.errors}) : *same;
    r.kernels.push_back(c.kernel.name());
  }
  return found;
}

std::string names_of(const std::vector<std::string>& kernels, std::size_t room) {
  const std::string all = fmt::format("{}", fmt::join(kernels, ", "));
  if (kernels.size() < 2 || width(all) <= room) return all;
  std::vector<std::string> plugins;
  for (const std::string& name : kernels) add_once(plugins, name.substr(0, name.find(':')));
  const std::string folded =
      fmt::format("{} kernels of {}", kernels.size(), fmt::join(plugins, ", "));
  if (plugins.size() < 2 || width(folded) <= room) return folded;
  return fmt::format("{} kernels of {} plugins", kernels.size(), plugins.size());
}

std::size_t shared_reason::cells() const {
  std::size_t count = 0;
  for (const auto& [kernel, on] : problems) count += on.size();
  return count;
}

std::vector<shared_reason> shared_reasons(const document& d) {
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

bool told_failures::is_new(const results::cell& c, const results::finding& f) {
  return found_.emplace(f.check, f.detail, c.kernel.name()).second;
}

}  // namespace kzoo::report
