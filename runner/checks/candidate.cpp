#include "checks/candidate.hpp"

#include "devices/devices.hpp"

#include <fmt/format.h>

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
  std::vector<problem> problems;
  for (const problem& earlier : seen_) {
    problem same = earlier;
    same.data = p.data;
    same.seed = p.seed;
    same.renewed = p.renewed;
    if (same == p && earlier != p) problems.push_back(earlier);
  }
  return problems;
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

void candidate::explain(reference::judgement& wrong, worker::run_request request, int slot) {
  if (who_.device == "cpu") return;  // it has no streams
  const auto again = [&](bool idle_device) {
    request.idle_device = idle_device;
    return judge(client_.run(request, slot), slot).right;
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
  worker::run_request request;
  request.fresh = true;
  request.output.wanted = false;
  const worker::run_report report = client_.run(request, slot);
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

namespace {

constexpr std::int64_t kFew = 16;  // rows or columns

double matrices_bytes(const problem& p) {
  const double m = double(p.m), n = double(p.n), k = double(p.k);
  return double(p.count_a()) * m * k * double(type_size(p.dtype.a)) +
         double(p.count_b()) * k * n * double(type_size(p.dtype.b)) +
         double(p.batch) * m * n * double(type_size(p.dtype.c));
}

// Why a check cannot use the problem, if it cannot. Allowed: several times the cell's own time or a
// small problem's, and half of the memory, since some checks hold two copies.
std::optional<std::string> why_too_large(const candidate& c, const problem& p) {
  const problem& own = c.current_problem();
  const double small = c.who().simulated ? kLongSimulation : 0x1p34;  // 2048³
  constexpr double kTimesAsLong = 8, kSurelyFits = 0x1p28;
  const double bytes = matrices_bytes(p);
  if (std::max({p.m, p.n, p.k}) > 2 * kLargestDimension) return "is too large";
  if (bytes > std::max(kSurelyFits, matrices_bytes(own)) &&
      2 * bytes > double(devices::free_memory(devices::find(c.who().device))))
    return fmt::format("does not fit into memory ({:.1f} GB)", bytes / 1e9);
  const bool is_long = p.flops() > std::max(small, kTimesAsLong * own.flops());
  if (is_long) return "takes too long";
  return std::nullopt;
}

// Whether `takes` accepts larger round sizes, or few rows or columns. If not, its objection is not
// about size, and searching hundreds of sizes is useless.
bool is_taken_in_round_sizes(const problem& p, const size_granularity& declared,
                             const auto& takes) {
  problem packed = p;
  packed.padding = packed.batch_padding = 0;
  const auto takes_multiples_of = [&](std::int64_t step, problem of) {
    return takes(rounded_up(of, both_of(declared, {step, step, step, step * narrowest(p.dtype)})));
  };
  const auto with = [&](std::int64_t m, std::int64_t n) {
    problem narrow = packed;
    narrow.m = std::min(p.m, m);
    narrow.n = std::min(p.n, n);
    return narrow;
  };
  return takes_multiples_of(64, packed) || takes_multiples_of(512, packed) ||
         takes_multiples_of(kFew, with(kFew, p.n)) || takes_multiples_of(kFew, with(p.m, kFew)) ||
         takes_multiples_of(kFew, with(kFew, kFew));
}

}  // namespace

fitted_problem fit(candidate& c, const problem& p) {
  constexpr std::int64_t kLargestStep = 512;
  const auto objection_to = [&](const problem& asked) {
    return c.client().objection(c.who().device, c.who().variant, asked);
  };
  const size_granularity& declared = c.who().description.granularity;
  const problem first = rounded_up(p, declared);
  if (broken_by(declared, p)) objection_to(p);  // throws if there is none
  if (const auto why = why_too_large(c, first))
    return {std::nullopt, fmt::format("{} is {} in whole tiles, which {}", shape_name(p),
                                      shape_name(first), *why)};
  const auto objection = objection_to(first);
  if (!objection) return {first, ""};
  const auto takes = [&](const problem& asked) { return !objection_to(asked); };
  if (!is_taken_in_round_sizes(p, declared, takes)) return {std::nullopt, *objection};
  for (std::int64_t step = 2; step <= kLargestStep; step *= 2) {
    const size_granularity rows{1, 1, 1, step * narrowest(p.dtype)};
    const problem aligned = rounded_up(p, both_of(declared, rows));
    if (takes(aligned)) return {aligned, ""};
    const size_granularity sizes{step, step, step, rows.row_bytes};
    const problem larger = rounded_up(p, both_of(declared, sizes));
    if (takes(larger)) return {larger, ""};
  }
  // A kernel for few rows, or for few columns.
  for (std::int64_t problem::*const size : {&problem::m, &problem::n}) {
    if (p.*size <= kFew) continue;
    problem narrow = p;
    narrow.*size = kFew;
    if (fitted_problem found = fit(c, narrow); found.taken) return found;
  }
  if (p.padding == 0 && p.batch_padding == 0) return {std::nullopt, *objection};
  problem packed = p;
  packed.padding = packed.batch_padding = 0;
  fitted_problem without = fit(c, packed);
  without.objection = *objection;
  return without;
}

}  // namespace kzoo::checks
