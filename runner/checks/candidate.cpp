#include "checks/candidate.hpp"

#include "core/operands.hpp"
#include "devices/backend.hpp"
#include "os/posix.hpp"
#include "reference/error_map.hpp"
#include "reference/tampering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <random>
#include <thread>

namespace kzoo::checks {
namespace {

std::int64_t up_to_multiple(std::int64_t x, std::int64_t of) { return (x + of - 1) / of * of; }

std::int64_t narrowest(const element_types& t) {
  return static_cast<std::int64_t>(std::min({type_size(t.a), type_size(t.b), type_size(t.c)}));
}

problem rounded_up(problem p, const results::granularity& g) {
  const std::int64_t row = std::max<std::int64_t>(1, g.row_bytes / narrowest(p.dtype));
  const bool a_has_rows_of_m = is_a_transposed(p.layout);
  const bool some_rows_of_k = !a_has_rows_of_m || is_b_transposed(p.layout);
  p.m = up_to_multiple(p.m, std::lcm(g.m, a_has_rows_of_m ? row : 1));
  p.n = up_to_multiple(p.n, std::lcm(g.n, row));  // rows of C
  p.k = up_to_multiple(p.k, std::lcm(g.k, some_rows_of_k ? row : 1));
  p.padding = up_to_multiple(p.padding, row);
  p.batch_padding = up_to_multiple(p.batch_padding, row);
  return p;
}

}  // namespace

fitted_problem candidate::fit(const problem& p) {
  constexpr std::int64_t kLargestStep = 512;
  const problem first = rounded_up(p, granularity());
  const auto objection = client_.objection(who_.device, who_.variant, first);
  if (!objection) return {first, ""};
  for (std::int64_t step = 2; step <= kLargestStep; step *= 2) {
    const problem aligned = rounded_up(p, {1, 1, 1, step * narrowest(p.dtype)});  // rows alone
    if (!client_.objection(who_.device, who_.variant, aligned)) return {aligned, ""};
    problem larger = rounded_up(p, {step, step, step, 1});
    larger.padding = up_to_multiple(p.padding, step);
    larger.batch_padding = up_to_multiple(p.batch_padding, step);
    if (!client_.objection(who_.device, who_.variant, larger)) return {larger, ""};
  }
  if (p.padding == 0 && p.batch_padding == 0) return {std::nullopt, *objection};
  problem packed = p;
  packed.padding = packed.batch_padding = 0;
  fitted_problem without = fit(packed);
  without.objection = *objection;
  return without;
}

void candidate::prepare(const problem& p, int slot) {
  client_.prepare(who_.device, who_.variant, p, slot);
  prepared_[slot] = p;
}

void candidate::renew(const problem& p, const std::string& move, int slot) {
  client_.renew(p, move, slot);
  prepared_[slot] = p;
}

judged_run candidate::run(int slot, std::vector<std::uint64_t> judged) {
  const problem& p = problem_in(slot);
  judged_run result;
  worker::run_request how{wanted(p)};
  how.output.known = std::move(judged);
  result.report = client_.run(how, slot);
  result.judgement.right = result.report.output.known;
  if (!result.judgement.right) result.judgement = judge(p, result.report.output, slot);
  if (!result.judgement.right) explain(result.judgement, how, slot);
  check_tampering(p, result.report.changed, result.judgement);
  if (result.judgement.right && result.report.unfinished) {
    result.judgement.right = false;
    result.judgement.reason =
        "C still changes when run() has returned and its stream has done its work: is something "
        "launched on another stream, or by another thread?";
  }
  return result;
}

void candidate::explain(reference::judgement& wrong, worker::run_request how, int slot) {
  const problem& p = problem_in(slot);
  const auto again = [&](bool plain, bool idle_device) {
    how.plain = plain;
    how.idle_device = idle_device;
    const worker::run_report report = client_.run(how, slot);
    reference::judgement j;
    j.right = report.output.known;
    return j.right ? j : judge(p, report.output, slot);
  };
  const bool has_streams = who_.device != "cpu";
  if (has_streams && again(false, true).right && again(false, true).right &&
      !again(false, false).right) {
    wrong.reason =
        "does not work on the stream that it is given: right only if the device is idle before "
        "run() and is waited for after it; otherwise " +
        wrong.reason;
    return;
  }
  // The reason is clearest for the matrices as the problem describes them.
  if (const reference::judgement plain = again(true, false); !plain.right) wrong = plain;
}

void candidate::run_unjudged(int slot) {
  reference::judgement inputs;
  inputs.right = true;
  worker::run_request how;
  how.output.wanted = false;
  check_tampering(problem_in(slot), client_.run(how, slot).changed, inputs);
  if (!inputs.right) throw failure(verdict::wrong, inputs.reason);
}

judged_samples candidate::sample(worker::sample_request how, std::vector<std::uint64_t>& judged,
                                 timing::throttle_filter& filter) {
  // A kernel may give a new result in each run. So many are judged each; then about kLooks in a
  // turn, at random, so that it cannot know which.
  constexpr std::size_t kMaxJudged = 8;
  constexpr int kLooks = 4;
  constexpr std::chrono::milliseconds kToRecover{50};  // pause after throttling
  const problem& p = problem_in(0);
  how.output = wanted(p);
  judged_samples all;
  all.judgement.right = true;
  const int wanted_samples = how.samples;
  std::random_device random;
  for (;;) {
    how.output.known = judged;
    how.any_output = judged.size() > kMaxJudged;
    if (how.any_output) {
      const int most_unjudged = std::max(1, 2 * wanted_samples / kLooks);
      how.samples = std::min(how.samples, std::uniform_int_distribution(1, most_unjudged)(random));
    }
    how.least_mhz = filter.least_mhz();
    const double sent = steady_seconds();
    const worker::sample_report report = client_.sample(how);
    all.runner_seconds += steady_seconds() - sent;
    all.worker_seconds += report.total_seconds;
    how.max_seconds -= report.seconds;
    if (all.samples_ms.empty() && how.max_seconds <= 0) filter.accept_all();  // at least one sample
    const bool all_count = add_samples(report, filter, all);
    all.cold_cache = report.cold_cache;
    all.warmup_seconds += report.warmup_seconds;
    if (!report.output.known) all.judgement = judge_again(p, report.output);
    check_tampering(p, report.changed, all.judgement);
    if (!report.output.known && !how.any_output && all.judgement.right)
      judged.push_back(report.output.digest);
    how.samples = wanted_samples - static_cast<int>(all.samples_ms.size());
    if (!all.judgement.right || how.samples <= 0 || how.max_seconds <= 0) return all;
    if (!all_count) std::this_thread::sleep_for(kToRecover);
    how.warmup = 0;
  }
}

judged_repetition candidate::run_for(double seconds, std::vector<std::uint64_t>& judged) {
  const problem& p = problem_in(0);
  worker::sustain_request how{seconds, wanted(p)};
  how.output.known = judged;
  const double sent = steady_seconds();
  const worker::sustain_report report = client_.sustain(how);
  const double returned = steady_seconds();
  judged_repetition all{
      {}, report.ms / static_cast<double>(report.runs), report.begin_seconds, report.end_seconds};
  all.judgement.right = report.output.known;
  if (!report.output.known) all.judgement = judge_again(p, report.output);
  check_tampering(p, report.changed, all.judgement);
  // Its runs fit into the time between request and reply, of which they are the most.
  const bool in_time = report.begin_seconds >= sent && report.end_seconds <= returned &&
                       report.ms / 1000 <= returned - sent;
  if (all.judgement.right && !in_time) {
    all.judgement.right = false;
    all.judgement.reason = "the worker's clock is wrong: did the plugin tamper with it?";
  }
  return all;
}

unseen_run candidate::time_unseen(std::uint64_t seed, bool hot, bool judged) {
  problem p = current_problem();
  p.seed = seed;
  renew(p, "");
  worker::sample_request how;
  how.hot = hot;
  how.any_output = true;
  how.output.wanted = judged;
  if (judged) how.output = wanted(p);
  const worker::sample_report report = client_.sample(how);
  unseen_run run;
  run.judgement.right = true;
  run.ms = report.samples_ms.front();
  if (judged) run.judgement = judge(p, report.output, 0);
  check_tampering(p, report.changed, run.judgement);
  return run;
}

reference::judgement candidate::repeat(const std::vector<std::uint64_t>& judged) {
  constexpr int kRuns = 20;
  reference::judgement j;
  j.right = true;
  prepare(current_problem());
  for (int i = 0; i < kRuns && j.right; ++i) j = run(0, judged).judgement;
  finish();
  return j;
}

reference::judgement candidate::compare_clocks(bool hot) {
  // So long that this process's waiting for its turn on a busy machine is short beside it.
  constexpr double kEnoughSeconds = 0.05;
  constexpr int kMostSamples = 4096, kTries = 5;  // what else the machine does is not always there
  worker::sample_request how;
  how.hot = hot;
  how.output.wanted = false;
  how.any_output = true;
  how.max_seconds = kEnoughSeconds;
  reference::judgement j;
  for (int slow = 0; slow < kTries;) {
    const double sent = steady_seconds();
    const double workers = client_.sample(how).total_seconds;
    const double ours = steady_seconds() - sent;
    j.right = ours <= kMostClockRatio * workers;
    if (ours < kEnoughSeconds && how.samples < kMostSamples) {
      how.samples *= 4;
      continue;
    }
    if (j.right) return j;
    ++slow;
    j.reason = fmt::format(
        "the worker's clock is wrong: {:.3g} ms are {:.3g} ms by the runner's; did the plugin tamper "
        "with it?",
        1000 * workers, 1000 * ours);
  }
  return j;
}

judged_end_to_end candidate::end_to_end(double max_seconds, std::vector<std::uint64_t>& judged) {
  constexpr int kRuns = 5;  // so that the cold first run does not determine the median
  const problem& p = problem_in(0);
  worker::output_request output = wanted(p);
  judged_end_to_end all;
  all.judgement.right = true;
  std::vector<timing::end_to_end> runs;
  double seconds = 0;
  // Whichever addresses an instance keeps, those of its first call, with the worker's own matrices,
  // are not those that an allocator gives later.
  run_unjudged();
  do {
    output.known = judged;
    const worker::end_to_end_report report = client_.end_to_end(output);
    if (!report.output.known) {
      all.judgement = judge(p, report.output, 0);
      if (all.judgement.right) judged.push_back(report.output.digest);
    }
    if (!all.judgement.right) return all;
    runs.push_back(report.times);
    seconds += report.times.total_ms() / 1000;
  } while (runs.size() < kRuns && seconds < max_seconds);
  all.medians = timing::medians(runs);
  return all;
}

bool candidate::add_samples(const worker::sample_report& report, timing::throttle_filter& filter,
                            judged_samples& all) const {
  const results::conditions now = who_.monitor ? who_.monitor->read() : results::conditions{};
  all.conditions.add(now);
  const int discarded_before = filter.discarded();
  for (std::size_t i = 0; i < report.samples_ms.size(); ++i) {
    if (!filter.accepts({report.sm_mhz[i], now.slowed_down(), now.power_capped()})) continue;
    all.samples_ms.push_back(report.samples_ms[i]);
    all.sm_mhz.push_back(report.sm_mhz[i]);
  }
  return filter.discarded() == discarded_before;
}

worker::output_request candidate::wanted(const problem& p) {
  worker::output_request output;
  const auto known = expected(p);
  if (!known->complete()) output.rows = known->rows();
  return output;
}

reference::judgement candidate::judge(const problem& p, const worker::output_report& seen,
                                      int slot) {
  judged_by_ = expected(p);
  const kzoo_precision declared = who_.description.declared(p.dtype);
  reference::judgement j = judge_seen(seen, declared, slot);
  if (!j.right && who_.show_errors) {
    if (rows_only_) client_.show(slot);
    rows_only_ = false;
    j.errors = reference::map_errors(*judged_by_, declared, client_.output());
  }
  return j;
}

reference::judgement candidate::judge_again(const problem& p, const worker::output_report& seen) {
  reference::judgement j = judge(p, seen, 0);
  if (j.right && !nondeterministic()) {
    j.right = false;
    j.reason =
        "within the bound, but not bit for bit the result that was judged before, and the variant "
        "is not declared nondeterministic: a race, or another computation when it is timed?";
  }
  return j;
}

reference::judgement candidate::judge_seen(const worker::output_report& seen,
                                           kzoo_precision declared, int slot) {
  rows_only_ = !judged_by_->complete();
  if (rows_only_ && seen.survey.clean()) return reference::judge(*judged_by_, declared, kept());
  if (rows_only_) client_.show(slot);  // the survey found an error: copy all of C to locate it
  rows_only_ = false;
  return reference::judge(*judged_by_, declared, client_.output());
}

reference::result candidate::kept() const {
  const std::span<const std::byte> seen = client_.output();
  return rows_only_ ? reference::result{{seen.begin(), seen.end()}}
                    : reference::keep(*judged_by_, seen);
}

void candidate::check_tampering(const problem& p, const worker::changes& found,
                                reference::judgement& j) {
  const operands o = operands_of(p);
  std::string reason = reference::tampering(o.a, "A", found.a);
  if (reason.empty()) reason = reference::tampering(o.b, "B", found.b);
  if (reason.empty()) {
    reason = reference::tampering(worker::workspace_spec(found.workspace_bytes), "the workspace",
                                  found.workspace);
  }
  if (reason.empty()) reason = reference::tampering(o.c, "C", found.c);
  if (reason.empty()) reason = reference::restored(o.a, "A", found.restored_a);
  if (reason.empty()) reason = reference::restored(o.b, "B", found.restored_b);
  if (reason.empty() && found.between > 0)
    reason = fmt::format("written between the matrices: {} word{} changed", found.between,
                         found.between == 1 ? "" : "s");
  if (reason.empty()) return;
  // Reported before a wrong C, which may be a consequence.
  j.reason = j.right ? reason : reason + "; and of C " + j.reason;
  j.right = false;
}

}  // namespace kzoo::checks
