#include "run/access_search.hpp"

#include "checks/fitted_problem.hpp"
#include "os/posix.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>

namespace kzoo::run {

problem access_search::smallest_wrong(client::plugin_client& client,
                                      const checks::candidate_description& who) const {
  const problem& own = who.problem;
  // The problem, or the next larger one that the kernel takes, if it is wrong there.
  const auto wrong_at = [&](const problem& p) -> std::optional<problem> {
    checks::candidate_description at = who;
    at.problem = p;
    checks::candidate c(client, at, expected_);
    try {
      const auto taken = checks::fit(c, p).taken;
      if (!taken || taken->flops() >= own.flops()) return std::nullopt;
      c.prepare(*taken);
      const bool right = c.run().judgement.right;
      c.destroy();
      return right ? std::nullopt : taken;
    } catch (const failure&) {
      client.leave();
      return std::nullopt;
    }
  };
  for (const std::int64_t edge : {16, 32, 64, 128, 256}) {
    problem p = own;
    for (std::int64_t* extent : {&p.m, &p.n, &p.k}) *extent = std::min(*extent, edge);
    p.batch = std::min<std::int64_t>(p.batch, 2);
    if (p.flops() >= own.flops()) break;
    if (const auto found = wrong_at(p)) return *found;
  }
  return own;
}

std::optional<results::finding> access_search::of(loaded_plugin& plugin,
                                                  const checks::candidate_description& who) {
  constexpr double kMostSeconds = 30;  // of all searches together
  if (!who.simulated || !find_ || seconds_ > kMostSeconds) return std::nullopt;
  const std::string kernel = kernel_id{plugin.record.name, who.description.id}.name();
  if (const auto known = known_.find(kernel); known != known_.end()) return known->second;
  const double start = steady_seconds();
  std::optional<results::finding> found;
  try {
    const access_analysis analyse = find_(plugin.record);
    if (!analyse) return std::nullopt;
    plugin.client->leave();  // a failure's threads and corrupted heap
    found = analyse(who.variant, smallest_wrong(*plugin.client, who));
  } catch (const std::exception&) {
    // It cannot be built for that, or analysed soon: its own reason is all that there is.
  }
  plugin.client->leave();
  seconds_ += steady_seconds() - start;
  if (found && results::is_bad(*found)) known_.emplace(kernel, *found);
  return found;
}

results::finding access_search::check(loaded_plugin& plugin,
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

void access_search::explain(results::cell& c, loaded_plugin& plugin,
                            const checks::candidate_description& who) {
  const auto found = of(plugin, who);
  if (!found) return;
  if (results::is_bad(*found)) c.reason += "; " + found->detail;
  c.findings.push_back(*found);
}

}  // namespace kzoo::run
