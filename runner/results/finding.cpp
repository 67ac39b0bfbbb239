#include "results/finding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace kzoo::results {

std::string batch_invariance(const std::vector<finding>& findings) {
  const auto found = std::ranges::find(findings, kBatchInvariance, &finding::check);
  if (found == findings.end() || found->outcome != outcome::pass) return "";
  return found->detail.substr(0, found->detail.find(':'));
}

std::optional<finding> skipped_checks(const std::vector<finding>& findings) {
  const auto count = std::ranges::count_if(findings, [](const finding& f) {
    return f.outcome == outcome::skipped && f.detail.starts_with(kDeclined);
  });
  if (count == 0) return std::nullopt;
  return remark(kSkippedChecks, fmt::format("{} of {} checks skipped: it takes none of their sizes",
                                            count, findings.size()));
}

std::optional<finding> slow_checks(double seconds, std::uint64_t workspace_bytes) {
  constexpr double kLongSeconds = 20;
  constexpr std::uint64_t kLargeWorkspace = 64 << 20;
  if (seconds < kLongSeconds || workspace_bytes < kLargeWorkspace) return std::nullopt;
  return remark(
      kSlowChecks,
      fmt::format("its checks took {:.0f} s: a workspace of {:.0f} MB is filled before each "
                  "of their runs, and looked at afterwards",
                  seconds, double(workspace_bytes) / 1e6));
}

finding calls_libraries(const std::vector<std::string>& names) {
  return remark(kLibrary, fmt::format("calls {}, by what its plugin has loaded; its name does not "
                                      "say so",
                                      fmt::join(names, ", ")));
}

void coverage::add(const std::string& kernel, const std::vector<finding>& findings) {
  for (const finding& f : findings) {
    if (!f.not_checked) continue;
    const auto is_same = [&](const gap& g) {
      return g.check == f.check && g.why == *f.not_checked;
    };
    auto same = std::ranges::find_if(gaps_, is_same);
    if (same == gaps_.end()) same = gaps_.insert(same, {f.check, *f.not_checked, {}});
    if (std::ranges::find(same->kernels, kernel) == same->kernels.end())
      same->kernels.push_back(kernel);
  }
}

std::string to_string(const gap& g) {
  constexpr std::size_t kMostNamed = 3;
  const std::size_t named = std::min(kMostNamed, g.kernels.size());
  const std::string more = named < g.kernels.size()
                               ? fmt::format(" and {} more", g.kernels.size() - named)
                               : std::string();
  return fmt::format("{}, of {}{}: {}", g.check, fmt::join(std::span(g.kernels).first(named), ", "),
                     more, g.why);
}

bool nothing_ran(const validation& v) {
  return std::ranges::all_of(v.variants, [](const validated_variant& one) {
    return std::ranges::all_of(one.findings,
                               [](const finding& f) { return f.outcome == outcome::skipped; });
  });
}

int exit_code(const validation& v) {
  const bool unusable = nothing_ran(v) || std::ranges::any_of(v.plugins, &plugin_record::broken);
  const bool failed = std::ranges::any_of(v.variants, [](const validated_variant& one) {
    return std::ranges::any_of(one.findings, results::is_bad);
  });
  return unusable || failed ? 1 : 0;
}

}  // namespace kzoo::results
