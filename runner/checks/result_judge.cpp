#include "checks/result_judge.hpp"

#include "core/operands.hpp"
#include "devices/devices.hpp"
#include "reference/places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <span>
#include <vector>

namespace kzoo::checks {
namespace {

using reference::expected_result;

// For results that checks compare in part: less than a second.
constexpr double kFewProducts = 4e9;
constexpr double kSmallElements = 1e5;
// A product that several epilogues share is kept once more, up to this size.
constexpr double kSharedElements = 4e6;

// Elements of all kept results together: they fill at most a quarter of the memory.
double most_kept_elements() {
  constexpr double kBytesOfElement = 24;
  static const double most = double(devices::find("cpu").memory_bytes) / 4 / kBytesOfElement;
  return most;
}

expected_result whole(const problem& p, std::uint64_t key) {
  return expected_result(p, expected_result::kMaxProducts, key);
}

double elements(const reference::expected_result& t) {
  return static_cast<double>(t.rows().size()) * static_cast<double>(t.of().n);
}

}  // namespace

expected_results::shared_result expected_results::find(result_map& in, const problem& p,
                                                       std::function<expected_result()> compute) {
  std::shared_future<shared_result> result;
  {
    const std::scoped_lock lock(mutex_);
    const auto [known, is_new] = in.try_emplace(p);
    if (is_new) {
      known->second = std::async(std::launch::deferred, [this, compute = std::move(compute)] {
        auto computed = std::make_shared<const expected_result>(compute());
        const std::scoped_lock now(mutex_);
        kept_elements_ += elements(*computed);
        if (kept_elements_ > most_kept_elements()) forget_if_large();
        return computed;
      });
    }
    result = known->second;
  }
  return result.get();
}

std::shared_ptr<const reference::expected_result> expected_results::of(const problem& p) {
  return find(known_, p, [this, p] {
    std::unique_lock lock(mutex_);
    auto begun = std::exchange(begun_, {});
    lock.unlock();
    if (begun && begun->first == p) return begun->second.get();
    const bool is_large = double(p.all_rows()) * double(p.n) > kSharedElements;
    if (p.epilogue.empty() || is_large) return whole(p, key_);
    problem plain = p;
    plain.epilogue.clear();
    return expected_result(*of(plain), p);
  });
}

void expected_results::begin(const problem& p) {
  if (expected_result::rows_of(p) < p.all_rows()) return;
  begun_.emplace(p, std::async(std::launch::async, whole, p, key_));
}

std::shared_ptr<const reference::expected_result> expected_results::few_rows_of(const problem& p) {
  if (expected_result::rows_of(p, kFewProducts) == p.all_rows()) return of(p);
  return find(few_rows_, p,
              [this, p] { return reference::expected_result(p, kFewProducts, key_); });
}

std::shared_ptr<const reference::expected_result> expected_results::with_row(
    const problem& p, std::int64_t row) const {
  return std::make_shared<const reference::expected_result>(p, kFewProducts, key_, row);
}

void expected_results::forget_large() {
  const std::scoped_lock lock(mutex_);
  forget_if_large();
}

void expected_results::forget_if_large() {
  for (auto* results : {&known_, &few_rows_})
    std::erase_if(*results, [](const auto& e) {
      if (e.second.wait_for(std::chrono::seconds{0}) != std::future_status::ready) return false;
      try {
        return elements(*e.second.get()) > kSmallElements;
      } catch (...) {  // of its computation; whoever asks again repeats it
        return true;
      }
    });
  kept_elements_ = 0;
}

worker::output_request result_judge::wanted(const problem& p) {
  worker::output_request output;
  const auto known = expected(p);
  if (!known->complete()) output.rows = known->rows();
  return output;
}

reference::judgement result_judge::judge(const problem& p, const worker::output_report& seen,
                                         int slot) {
  reference::judgement j;
  j.right = seen.known;
  if (j.right) return j;
  judged_by_ = expected(p);
  rows_only_ = !judged_by_->complete();
  if (rows_only_ && seen.survey.clean()) {
    j = reference::judge(*judged_by_, declared(p), last_judged());
    if (j.right || !who_.show_errors) return j;
  }
  // Copies all of C, to locate the error.
  if (rows_only_) client_.copy_result(slot);
  rows_only_ = false;
  return judge_output(*judged_by_);
}

reference::judgement result_judge::judge(const problem& p, const worker::judged_report& seen,
                                         int slot) {
  reference::judgement j;
  j.right = seen.right;
  if (j.right) return j;
  problem fresh = p;
  fresh.seed = seen.seed;
  client_.copy_result(slot);
  rows_only_ = false;
  j = judge_output(*expected_.with_row(fresh, seen.row));
  std::vector<problem> earlier(seen.earlier_seeds.size(), p);
  for (std::size_t i = 0; i < earlier.size(); ++i) earlier[i].seed = seen.earlier_seeds[i];
  tell_if_kept(earlier, j);
  return j;
}

kept_rows result_judge::keep_rows(const problem& p, const worker::judged_report& of_run) {
  constexpr double kProducts = 5e7;  // a hundredth of a second
  constexpr std::int64_t kFewest = 3, kMost = 64;
  const double fit = kProducts / (static_cast<double>(p.n) * static_cast<double>(p.k));
  const auto count = static_cast<std::int64_t>(
      std::clamp(fit, static_cast<double>(kFewest), static_cast<double>(kMost)));
  std::set<std::int64_t> chosen;
  std::random_device random;
  std::uniform_int_distribution<std::int64_t> any(0, p.all_rows() - 1);
  for (std::int64_t i = 0; i < count; ++i) chosen.insert(any(random));
  kept_rows kept{p, {chosen.begin(), chosen.end()}, {}};
  kept.of.seed = of_run.seed;
  client_.copy_result(0, kept.rows);
  const std::span<const std::byte> seen = client_.output();
  kept.words = {{seen.begin(), seen.end()}};
  return kept;
}

reference::judgement result_judge::judge(const kept_rows& kept) const {
  return reference::judge(reference::expected_result(kept.of, kept.rows), declared(kept.of),
                          kept.words);
}

void result_judge::tell_if_kept(const std::vector<problem>& earlier,
                                reference::judgement& j) const {
  if (j.right || rows_only_ || !is_of_one(earlier)) return;
  j.refuse(step::kKept, j.reason +
                            "; likely cause: it is the result of an earlier run, on other "
                            "numbers: a result kept from an earlier call?");
}

bool result_judge::is_of_one(const std::vector<problem>& earlier) const {
  return std::ranges::any_of(earlier, [&](const problem& p) {
    constexpr double kFewestRows = 0;
    const reference::expected_result expected(p, kFewestRows);
    const reference::result result = reference::keep(expected, client_.output());
    return reference::judge(expected, declared(p), result).right;
  });
}

reference::judgement result_judge::judge_output(const reference::expected_result& by) const {
  const kzoo_precision precision = declared(by.of());
  reference::judgement j = reference::judge(by, precision, client_.output());
  if (!j.right && who_.show_errors)
    j.errors = reference::map_errors(by, precision, client_.output());
  return j;
}

reference::result result_judge::last_judged() const {
  const std::span<const std::byte> seen = client_.output();
  return rows_only_ ? reference::result{{seen.begin(), seen.end()}}
                    : reference::keep(*judged_by_, seen);
}

void check_tampering(const problem& p, const worker::changes& found, reference::judgement& j) {
  const std::vector<named_operand> inputs = inputs_of(p);
  std::optional<std::string> reason;
  const auto note = [&](std::optional<std::string> other) {
    if (!reason) reason = std::move(other);
  };
  const auto for_each_input = [&](const auto& look) {
    for (std::size_t i = 0; i < std::min(inputs.size(), found.inputs.size()); ++i)
      look(inputs[i], found.inputs[i]);
  };
  for_each_input([&](const named_operand& x, const worker::input_changes& changed) {
    note(reference::tampering(x.stored, x.name, changed.seen));
  });
  note(reference::tampering(worker::workspace_spec(found.workspace_bytes), "the workspace",
                            found.workspace));
  note(reference::tampering(operands_of(p).c, "C", found.c));
  for_each_input([&](const named_operand& x, const worker::input_changes& changed) {
    note(reference::restored(x.stored, x.name, changed.restored));
  });
  if (!reason && found.between > 0)
    reason = fmt::format("written between the matrices: {} word{} changed", found.between,
                         found.between == 1 ? "" : "s");
  if (!reason) return;
  // Reported before a wrong C, which may be a consequence.
  j.refuse(step::kMemory, j.right ? *reason : *reason + "; and of C " + j.reason);
}

}  // namespace kzoo::checks
