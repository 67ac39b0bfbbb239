#include "verify/subject.hpp"

#include "core/operands.hpp"
#include "devices/backend.hpp"
#include "referee/error_map.hpp"
#include "referee/tampering.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace kzoo::verify {

void subject::prepare(const problem& p, int slot) {
  host_.prepare(who_.device, who_.variant, p, slot);
  prepared_[slot] = p;
}

void subject::renew(const problem& p, const std::string& move, int slot) {
  host_.renew(p, move, slot);
  prepared_[slot] = p;
}

judged_run subject::run(int slot, std::vector<std::uint64_t> judged) {
  const problem& p = problem_in(slot);
  judged_run result;
  workers::output_request output = wanted(p);
  output.known = std::move(judged);
  result.report = host_.run(output, slot);
  result.judgement.right = result.report.output.known;
  if (!result.judgement.right) result.judgement = judge(p, result.report.output, slot);
  check_tampering(p, result.report.changed, result.judgement);
  if (result.judgement.right && result.report.unfinished) {
    result.judgement.right = false;
    result.judgement.reason = "C still changes after run() has returned: who waits for that work?";
  }
  return result;
}

void subject::run_unseen(int slot) {
  referee::judgement inputs;
  inputs.right = true;
  check_tampering(problem_in(slot), host_.run({{}, false, {}}, slot).changed, inputs);
  if (!inputs.right) throw setback(verdict::wrong, inputs.reason);
}

judged_samples subject::sample(workers::sample_request how, std::vector<std::uint64_t>& judged,
                               timing::throttle_filter& filter) {
  // What differs from run to run is judged each time, up to here; after that only the last one.
  constexpr std::size_t kMostJudged = 8;
  constexpr std::chrono::milliseconds kToRecover{50};  // for a device that was throttled
  const problem& p = problem_in(0);
  how.output = wanted(p);
  judged_samples all;
  all.judgement.right = true;
  const int wanted_samples = how.samples;
  for (;;) {
    how.output.known = judged;
    how.any_output = judged.size() > kMostJudged;
    how.least_mhz = filter.least_mhz();
    const workers::sample_report report = host_.sample(how);
    how.max_seconds -= report.seconds;
    if (all.samples_ms.empty() && how.max_seconds <= 0) filter.accept_all();  // one at least
    const bool all_count = add_samples(report, filter, all);
    all.cold_cache = report.cold_cache;
    all.warmup_seconds += report.warmup_seconds;
    if (!report.output.known) all.judgement = judge(p, report.output, 0);
    check_tampering(p, report.changed, all.judgement);
    check_clocks(report, all.judgement);
    if (!report.output.known && !how.any_output) judged.push_back(report.output.digest);
    how.samples = wanted_samples - static_cast<int>(all.samples_ms.size());
    if (!all.judgement.right || how.samples <= 0 || how.max_seconds <= 0) return all;
    if (!all_count) std::this_thread::sleep_for(kToRecover);
    how.warmup = 0;
    how.compare_clocks = false;
  }
}

judged_end_to_end subject::end_to_end(double max_seconds, std::vector<std::uint64_t>& judged) {
  constexpr int kRuns = 5;  // the first, which finds everything cold, is not the median of so many
  const problem& p = problem_in(0);
  workers::output_request output = wanted(p);
  judged_end_to_end all;
  all.judgement.right = true;
  std::vector<timing::end_to_end> runs;
  double seconds = 0;
  do {
    output.known = judged;
    const workers::end_to_end_report report = host_.end_to_end(output);
    if (!report.output.known) {
      all.judgement = judge(p, report.output, 0);
      judged.push_back(report.output.digest);
    }
    if (!all.judgement.right) return all;
    runs.push_back(report.times);
    seconds += report.times.total_ms() / 1000;
  } while (runs.size() < kRuns && seconds < max_seconds);
  all.medians = timing::medians(runs);
  return all;
}

bool subject::add_samples(const workers::sample_report& report, timing::throttle_filter& filter,
                          judged_samples& all) const {
  const devices::conditions now = who_.monitor ? who_.monitor->read() : devices::conditions{};
  all.conditions.add(now);
  const int discarded_before = filter.discarded();
  for (std::size_t i = 0; i < report.samples_ms.size(); ++i) {
    if (!filter.accepts({report.sm_mhz[i], now.slowed_down(), now.power_capped()})) continue;
    all.samples_ms.push_back(report.samples_ms[i]);
    all.sm_mhz.push_back(report.sm_mhz[i]);
  }
  return filter.discarded() == discarded_before;
}

workers::output_request subject::wanted(const problem& p) {
  workers::output_request output;
  const auto truth = truths_.of(p);
  if (!truth->complete()) output.rows = truth->rows();
  return output;
}

referee::judgement subject::judge(const problem& p, const workers::output_report& seen, int slot) {
  judged_by_ = truths_.of(p);
  const kzoo_precision declared = who_.description.declared(p.dtype);
  referee::judgement j = judge_seen(seen, declared, slot);
  if (!j.right && who_.show_errors) {
    if (rows_only_) host_.show(slot);
    rows_only_ = false;
    j.errors = referee::map_errors(*judged_by_, declared, host_.output());
  }
  return j;
}

referee::judgement subject::judge_seen(const workers::output_report& seen, kzoo_precision declared,
                                       int slot) {
  rows_only_ = !judged_by_->complete();
  if (rows_only_ && seen.survey.clean()) return referee::judge(*judged_by_, declared, kept());
  if (rows_only_) host_.show(slot);  // something is plainly wrong: where?
  rows_only_ = false;
  return referee::judge(*judged_by_, declared, host_.output());
}

referee::result subject::kept() const {
  const std::span<const std::byte> seen = host_.output();
  return rows_only_ ? referee::result{{seen.begin(), seen.end()}}
                    : referee::keep(*judged_by_, seen);
}

void subject::check_tampering(const problem& p, const workers::changes& found,
                              referee::judgement& j) {
  const operands o = operands_of(p);
  std::string reason = referee::tampering(o.a, "A", found.a);
  if (reason.empty()) reason = referee::tampering(o.b, "B", found.b);
  if (reason.empty()) {
    reason = referee::tampering(workers::workspace_spec(found.workspace_bytes), "the workspace",
                                found.workspace);
  }
  if (reason.empty()) return;
  // It comes first: a wrong C may be what follows from it.
  j.reason = j.right ? reason : reason + "; and of C " + j.reason;
  j.right = false;
}

void subject::check_clocks(const workers::sample_report& report, referee::judgement& j) {
  const devices::clocks both{report.host_ms, report.stream_ms};
  if (!j.right || !both.apart()) return;
  j.right = false;
  j.reason = fmt::format(
      "works on another stream than the one it is given: {:.3g} ms pass until the device is idle, "
      "{:.3g} ms of them on that stream",
      both.host_ms, both.stream_ms);
}

}  // namespace kzoo::verify
