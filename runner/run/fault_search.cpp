#include "run/fault_search.hpp"

#include "checks/candidate.hpp"
#include "checks/size_search.hpp"
#include "os/posix.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <utility>

namespace kzoo::run {
namespace {

// Whether the finding says more than that nothing is wrong.
bool is_telling(const results::finding& f) {
  return results::is_bad(f) || f.check == results::kSizes;
}

results::finding analysed(const access_analysis& analyse, std::uint32_t variant,
                          const problem& p) try {
  return analyse(variant, p);
} catch (const failure& f) {
  if (f.verdict != verdict::crashed) throw;
  return {std::string(results::kAccesses),
          results::outcome::crashed,
          problem_name(p) + ": " + f.what(),
          {}};
}

}  // namespace

std::vector<results::finding> fault_search::search(loaded_plugin& plugin,
                                                   const checks::candidate_description& who) {
  std::vector<results::finding> found;
  plugin.client->leave();  // a failure leaves threads or a corrupted heap
  problem smallest = who.problem;
  try {
    const checks::size_report sizes = checks::search_sizes(*plugin.client, who, expected_);
    if (!sizes.text.empty()) found.push_back(results::remark(results::kSizes, sizes.text));
    smallest = sizes.smallest_wrong;
  } catch (const std::exception&) {
    // The verdict's reason then stands alone.
  }
  try {
    const access_analysis analyse =
        who.simulated && find_ ? find_(plugin.record) : access_analysis();
    if (analyse) found.push_back(analysed(analyse, who.variant, smallest));
  } catch (const std::exception&) {
    // No build records its accesses, or the analysis takes too long.
  }
  plugin.client->leave();
  return found;
}

std::vector<results::finding> fault_search::of(loaded_plugin& plugin,
                                               const checks::candidate_description& who) {
  constexpr double kMostSeconds = 30;  // for all searches together
  const kind searched{kernel_id{plugin.record.name, who.description.id}.name(),
                      types_name(who.problem.dtype), who.problem.layout};
  {
    const std::scoped_lock lock(mutex_);
    if (const auto known = known_.find(searched); known != known_.end()) return known->second;
    if (seconds_ > kMostSeconds) return {};
  }
  const double start = steady_seconds();
  std::vector<results::finding> found = search(plugin, who);
  const std::scoped_lock lock(mutex_);
  seconds_ += steady_seconds() - start;
  known_.emplace(searched, found);
  return found;
}

results::finding fault_search::check(loaded_plugin& plugin,
                                     const checks::candidate_description& who) {
  const auto skipped = [](const std::string& why) {
    return results::finding{
        std::string(results::kAccesses), results::outcome::skipped, why, {}, why};
  };
  try {
    const access_analysis analyse = find_ ? find_(plugin.record) : access_analysis();
    if (!analyse) return skipped("there is no build of the plugin for this");
    constexpr std::int64_t kMost = 65;
    problem small = who.problem;
    for (std::int64_t* extent : {&small.m, &small.n, &small.k}) *extent = std::min(*extent, kMost);
    small.batch = std::min<std::int64_t>(small.batch, 2);
    checks::candidate c(*plugin.client, who, expected_);
    const checks::fitted_problem fitted = checks::fit(c, small);
    if (!fitted.taken) return skipped(std::string(results::kDeclined) + fitted.objection);
    plugin.client->leave();
    return analyse(who.variant, *fitted.taken);
  } catch (const std::exception& fault) {
    return skipped(fault.what());
  }
}

void fault_search::explain(results::cell& c, loaded_plugin& plugin,
                           const checks::candidate_description& who) {
  for (results::finding& f : of(plugin, who)) {
    const bool is_known = c.verdict == verdict::crashed && f.outcome == results::outcome::crashed;
    if (is_telling(f) && !is_known) c.reason += "; " + f.detail;
    c.findings.push_back(std::move(f));
  }
}

}  // namespace kzoo::run
