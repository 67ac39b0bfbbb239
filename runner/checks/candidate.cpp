#include "checks/candidate.hpp"

namespace kzoo::checks {

void candidate::prepare(const problem& p, int slot) {
  client_.prepare(who_.device, who_.variant, p, slot);
  prepared_[slot] = p;
}

void candidate::refill(const problem& p, const std::string& move, int slot) {
  client_.refill(p, move, slot);
  prepared_[slot] = p;
}

judged_run candidate::run(int slot, std::vector<std::uint64_t> judged) {
  const problem& p = prepared(slot);
  worker::run_request how{judge_.wanted(p)};
  how.output.known = std::move(judged);
  judged_run result;
  result.report = client_.run(how, slot);
  result.judgement = judge_.judge(p, result.report.output, slot);
  if (!result.judgement.right) explain(result.judgement, how, slot);
  check_tampering(p, result.report.changed, result.judgement);
  if (result.judgement.right && result.report.unfinished) {
    result.judgement.refuse(
        "C still changes when run() has returned and its stream has done its work: is something "
        "launched on another stream, or by another thread?");
  }
  return result;
}

void candidate::explain(reference::judgement& wrong, worker::run_request how, int slot) {
  const problem& p = prepared(slot);
  const auto again = [&](bool plain, bool idle_device) {
    how.plain = plain;
    how.idle_device = idle_device;
    return judge_.judge(p, client_.run(how, slot).output, slot);
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
  check_tampering(prepared(slot), client_.run(how, slot).changed, inputs);
  if (!inputs.right) throw failure(verdict::wrong, inputs.reason);
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
