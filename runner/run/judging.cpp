#include "run/judging.hpp"

#include "core/problem.hpp"
#include "core/verdict.hpp"
#include "os/posix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>

namespace kzoo::run {
namespace {

using results::cell;

void fail(cell& c, verdict v, const std::string& reason, std::string_view check = "") {
  c.verdict = v;
  c.reason = reason;
  c.check = check;
}

}  // namespace

cell judging::new_cell(const loaded_plugin& plugin, const selected_variant& variant) const {
  cell c;
  c.problem = index_;
  c.device = plan_.device.id;
  c.kernel = {plugin.record.name, variant.description.id};
  c.declared = variant.description.declared(problem_.dtype);
  return c;
}

cell judging::judge(loaded_plugin& plugin, const selected_variant& variant, std::size_t position) {
  cell c = new_cell(plugin, variant);
  if (!plugin.client) {
    fail(c, plugin.obstacle, plugin.record.problem);
    return c;
  }
  if (!variant.obstacle.empty()) {
    fail(c, verdict::error, variant.obstacle);
    return c;
  }
  // Timeouts are long: a variant that has hung once is not run again.
  if (const auto before = state_.hung.find(c.kernel.name()); before != state_.hung.end()) {
    fail(c, verdict::hung, "not tried again: it hung at " + before->second);
    return c;
  }
  if (plan_.experiment.verify.demands_precision && c.declared != 0 &&
      !takes(problem_, c.declared)) {
    fail(c, verdict::unsupported, why_not_precise(c.declared), step::kPrecision);
    return c;
  }
  const std::string before = plugin.client->ran_before(variant.index, problem_);
  judge_in_worker(plugin, variant, position, c);
  if (gets_second_chance(c, before)) judge_alone(plugin, variant, position, before, c);
  if (const std::string how = plugin.client->take_replacement(); !how.empty()) {
    c.findings.push_back(results::remark(
        results::kWorkerEnded,
        "its process ended while it waited for this problem (" + how + "), and was started again"));
  }
  explain(c, plugin, variant);
  check_accesses(c, plugin, variant);
  return c;
}

std::string judging::why_not_precise(kzoo_precision declared) const {
  const std::string_view name = precision_name(declared);
  const bool tunes = plan_.experiment.overridden.tune;
  return fmt::format("it declares {0}, and the problem takes {1}; where {0} is enough, {2} says so",
                     name, taken_names(problem_),
                     tunes ? fmt::format("--allow \"{}\"", name)
                           : fmt::format("allow = [\"{}\"] in its experiment", name));
}

// For simulated kernels in tier paranoid.
void judging::check_accesses(cell& c, loaded_plugin& plugin, const selected_variant& variant) {
  const bool is_paranoid = plan_.experiment.verify.tier == tier::paranoid;
  if (c.verdict != verdict::pass || !is_paranoid || is_trusted(c) ||
      !plugin.record.description->simulated())
    return;
  auto known = state_.accesses_found.find(kind_of(c));
  if (known == state_.accesses_found.end())
    known = state_.accesses_found
                .emplace(kind_of(c), state_.faults.check(plugin, description_of(plugin, variant)))
                .first;
  const results::finding& found = known->second;
  c.findings.push_back(found);
  if (results::is_bad(found))
    fail(c, verdict::wrong, found.check + ": " + found.detail, found.check);
}

void judging::explain(cell& c, loaded_plugin& plugin, const selected_variant& variant) {
  if (c.verdict != verdict::wrong && c.verdict != verdict::crashed) return;
  checks::candidate_description who = description_of(plugin, variant);
  const auto bad = std::ranges::find_if(c.findings, results::is_bad);
  if (bad != c.findings.end() && bad->at) who.problem = *bad->at;
  state_.faults.explain(c, plugin, who);
}

void judging::judge_in_worker(loaded_plugin& plugin, const selected_variant& variant,
                              std::size_t position, cell& c) {
  checks::candidate candidate(*plugin.client, description_of(plugin, variant),
                              state_.expected_results);
  try {
    candidate.prepare(problem_);
    verify(candidate, c, position);
    candidate.destroy();
    if (c.verdict == verdict::pass) run_checks(candidate, c);
  } catch (const failure& f) {
    fail(c, f.verdict, f.what(), f.step);
    if (f.verdict == verdict::hung && candidate.who().simulated &&
        problem_.flops() > checks::kLongSimulation)
      c.reason += "; it may only be slow: the simulator takes long for a problem of this size";
  } catch (const std::exception& e) {
    fail(c, verdict::error, e.what());
  }
  // Threads or a corrupted heap from a failing kernel must not affect the next kernel.
  if (is_failure(c.verdict)) plugin.client->leave();
}

void judging::judge_alone(loaded_plugin& plugin, const selected_variant& variant,
                          std::size_t position, const std::string& before, cell& c) {
  const cell failed = c;
  c = new_cell(plugin, variant);
  std::erase_if(results_, [&](const variant_result& k) { return k.kernel == c.kernel.name(); });
  state_.findings.erase(kind_of(c));
  judge_in_worker(plugin, variant, position, c);
  if (c.verdict != verdict::pass) return;
  checks::candidate candidate(*plugin.client, description_of(plugin, variant),
                              state_.expected_results);
  require_repeatable(candidate, c);
  if (c.verdict != verdict::pass) return plugin.client->leave();
  c.findings.push_back(second_chance("passes in a process of its own", before, failed));
}

// A kernel that fails only now and then is wrong, whatever ran before it.
void judging::require_repeatable(checks::candidate& candidate, cell& c) const {
  try {
    const reference::judgement again = candidate.repeat({results_.back().of->digest});
    if (!again.right) fail(c, verdict::wrong, again.reason, again.step);
  } catch (const failure& f) {
    fail(c, f.verdict, f.what(), f.step);
  }
}

void judging::compare_newest(cell& c) {
  const std::span<const variant_result> earlier(results_.begin(), results_.end() - 1);
  const variant_result& newest = results_.back();
  if (const auto same = std::ranges::find(earlier, newest.of, &variant_result::of);
      same != earlier.end()) {
    c.same_as = same->position;
    return;
  }
  for (const variant_result& k : earlier) {
    if (&*std::ranges::find(earlier, k.of, &variant_result::of) != &k)
      continue;  // not the first of its class
    c.differences.push_back(
        {k.position, reference::compare(*state_.expected_results.of(problem_), k.of->result,
                                        k.of->declared, newest.of->result, newest.of->declared)});
  }
}

timed_cell judging::timed_cell_for(loaded_plugin& plugin, const selected_variant& variant,
                                   cell& c) {
  const auto mine = std::ranges::find(results_, c.kernel.name(), &variant_result::kernel);
  return {&c,
          plugin.client.get(),
          std::make_unique<checks::candidate>(*plugin.client, description_of(plugin, variant),
                                              state_.expected_results),
          plan_.device.abi.kind == KZOO_CUDA       ? timing::clock::gpu
          : plugin.record.description->simulated() ? timing::clock::simulator
                                                   : timing::clock::cpu,
          plan_.device.highest_mhz,
          mine->of->digest,
          plan_.experiment.is_baseline(c.kernel.plugin, c.kernel.variant)};
}

checks::candidate_description judging::description_of(const loaded_plugin& plugin,
                                                      const selected_variant& variant) const {
  return {plugin.record.file,
          plan_.device.id,
          variant.index,
          variant.description,
          plugin.record.description->simulated(),
          problem_,
          plan_.experiment.verify.show_errors,
          &monitor_};
}

void judging::verify(checks::candidate& candidate, cell& c, std::size_t position) {
  std::vector<std::uint64_t> right;
  for (const variant_result& k : results_)
    if (k.of->right && k.of->declared == c.declared) right.push_back(k.of->digest);
  const checks::judged_run run = candidate.run(0, right);
  results_.push_back({c.kernel.name(), position, result_of(candidate, run, c.declared)});
  c.launches = run.report.launches;
  c.accuracy = results_.back().of->accuracy;
  c.verdict = verdict::pass;
  if (const auto& j = run.judgement; !j.right) fail(c, verdict::wrong, j.reason, j.step);
  c.errors = run.judgement.errors;
  compare_newest(c);
}

std::shared_ptr<const judged_result> judging::result_of(checks::candidate& candidate,
                                                        const checks::judged_run& run,
                                                        kzoo_precision declared) {
  const worker::output_report& output = run.report.output;
  if (output.known) {
    const auto same = std::ranges::find_if(results_, [&](const variant_result& k) {
      return k.of->right && k.of->declared == declared && k.of->digest == output.digest;
    });
    return same->of;
  }
  return std::make_shared<judged_result>(output.digest, declared, run.judgement.right,
                                         run.judgement.accuracy, candidate.judge().last_judged());
}

void judging::run_checks(checks::candidate& candidate, cell& c) {
  if (is_trusted(c)) return;
  const tier t = plan_.experiment.verify.tier;
  const run_state::checked kind = kind_of(c);
  if (!state_.findings.contains(kind)) {
    const double start = steady_seconds();
    auto findings = checks::run_checks(t, false, candidate);
    if (auto slow = results::slow_checks(steady_seconds() - start, candidate.workspace_bytes()))
      findings.push_back(std::move(*slow));
    state_.findings.emplace(kind, std::move(findings));
  }
  c.findings = state_.findings.at(kind);
  const auto stop = [&] { return std::ranges::find_if(c.findings, results::is_bad); };
  if (stop() == c.findings.end()) {
    const auto more = checks::run_checks(t, true, candidate);
    c.findings.insert(c.findings.end(), more.begin(), more.end());
    if (auto skipped = results::skipped_checks(c.findings))
      c.findings.push_back(std::move(*skipped));
  }
  if (const auto bad = stop(); bad != c.findings.end()) {
    fail(c,
         bad->outcome == results::outcome::crashed ? verdict::crashed
         : bad->outcome == results::outcome::hung  ? verdict::hung
                                                   : verdict::wrong,
         bad->check + ": " + bad->detail,
         bad->step.empty() ? std::string_view(bad->check) : bad->step);
    c.errors = bad->errors;
  }
}

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
