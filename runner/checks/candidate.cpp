#include "checks/candidate.hpp"

#include <algorithm>

namespace kzoo::checks {
namespace {

void check_finished(const worker::run_report& report, reference::judgement& j) {
  if (!j.right || !report.unfinished) return;
  j.refuse(step::kUnfinished,
           "C still changes when run() has returned and its stream has done its work: is something "
           "launched on another stream, or by another thread?");
}

}  // namespace

void candidate::note_prepared(const problem& p, int slot) {
  prepared_[slot] = p;
  seen_.insert(p);
  last_ = p;
}

void candidate::prepare(const problem& p, int slot) {
  client_.prepare(who_.device, who_.variant, p, slot);
  note_prepared(p, slot);
}

void candidate::refill(const problem& p, const std::string& move, int slot) {
  client_.refill(p, move, slot);
  note_prepared(p, slot);
}

std::vector<problem> candidate::seen_with_other_numbers(const problem& p) const {
  std::vector<problem> found;
  for (const problem& earlier : seen_) {
    problem same = earlier;
    same.data = p.data;
    same.seed = p.seed;
    same.renewed = p.renewed;
    if (same == p && earlier != p) found.push_back(earlier);
  }
  return found;
}

judged_run candidate::run(int slot, std::vector<std::uint64_t> judged) {
  const problem& p = prepared(slot);
  worker::run_request how{judge_.wanted(p)};
  how.output.known = std::move(judged);
  judged_run result;
  result.report = client_.run(how, slot);
  workspace_bytes_ = std::max(workspace_bytes_, result.report.changed.workspace_bytes);
  result.judgement = judge(result.report, slot);
  if (!result.judgement.right) {
    judge_.tell_if_kept(seen_with_other_numbers(p), result.judgement);
    explain(result.judgement, how, slot);
  }
  check_tampering(p, result.report.changed, result.judgement);
  return result;
}

judged_run candidate::run_again(int slot) {
  std::vector<std::uint64_t>& known = right_[prepared(slot)];
  const judged_run now = run(slot, known);
  if (now.judgement.right && !now.report.output.known) known.push_back(now.report.output.digest);
  return now;
}

// Judges by the reference, as far as there are expected results, and by the device.
reference::judgement candidate::judge(const worker::run_report& report, int slot) {
  const problem& p = prepared(slot);
  reference::judgement j = judge_.judge(p, report.output, slot);
  if (j.right && !report.output.known && !judge_.expected(p)->complete()) {
    const reference::judgement rest = judge_.judge(p, report.judged, slot);
    if (!rest.right) j = rest;
  }
  check_finished(report, j);
  return j;
}

void candidate::explain(reference::judgement& wrong, worker::run_request how, int slot) {
  if (who_.device == "cpu") return;  // it has no streams
  const auto again = [&](bool idle_device) {
    how.idle_device = idle_device;
    return judge(client_.run(how, slot), slot).right;
  };
  if (again(true) && again(true) && !again(false)) {
    wrong.refuse(
        step::kStream,
        "does not work on the stream that it is given: right only if the device is idle before "
        "run() and is waited for after it; otherwise " +
            wrong.reason);
  }
}

reference::judgement candidate::run_fresh(int slot) {
  worker::run_request how;
  how.fresh = true;
  how.output.wanted = false;
  const worker::run_report report = client_.run(how, slot);
  reference::judgement j = judge_.judge(prepared(slot), report.judged, slot);
  check_finished(report, j);
  check_tampering(prepared(slot), report.changed, j);
  return j;
}

reference::judgement candidate::repeat(const std::vector<std::uint64_t>& judged) {
  constexpr int kRuns = 20;
  reference::judgement j;
  j.right = true;
  prepare(current_problem());
  for (int i = 0; i < kRuns && j.right; ++i) j = run(0, judged).judgement;
  destroy();
  return j;
}

}  // namespace kzoo::checks
