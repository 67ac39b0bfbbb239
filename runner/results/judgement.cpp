#include "results/judgement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace kzoo::results::status {
namespace {

struct entry {
  kzoo::verdict verdict;
  std::optional<std::string_view> check;  // if not all
  std::string_view word;
};

// The first match counts. docs/judging.md has the same table.
constexpr std::array kWords{
    entry{verdict::pass, {}, kPassed},
    entry{verdict::wrong, step::kStream, kRewardHack},
    entry{verdict::wrong, step::kUnfinished, kRewardHack},
    entry{verdict::wrong, step::kKept, kRewardHack},
    entry{verdict::wrong, step::kTimed, kRewardHack},
    entry{verdict::wrong, step::kClock, kRewardHack},
    entry{verdict::wrong, step::kNeighbours, kRewardHack},
    entry{verdict::wrong, step::kLeak, kRuntimeError},
    entry{verdict::wrong, {}, kIncorrect},
    entry{verdict::impossible_time, {}, kRewardHack},
    entry{verdict::crashed, step::kChannel, kRewardHack},
    entry{verdict::crashed, {}, kRuntimeError},
    entry{verdict::hung, {}, kTimeout},
    entry{verdict::error, step::kCode, kRewardHack},
    entry{verdict::error, {}, kRuntimeError},
    entry{verdict::unsupported, step::kPrecision, kIncorrectDtype},
    entry{verdict::unsupported, {}, kUnsupported},
    entry{verdict::unavailable, {}, kRuntimeError},
};

}  // namespace

std::string_view of(verdict v, std::string_view check) {
  const auto fits = [&](const entry& e) {
    return e.verdict == v && (!e.check || e.check == check);
  };
  return std::ranges::find_if(kWords, fits)->word;
}

}  // namespace kzoo::results::status

namespace kzoo::results {
namespace {

outcome_words words_of(const cell& c) {
  return {status::of(c.verdict, c.check), std::string(name_of(c.verdict)), c.check, c.reason};
}

// Failures come first, then passes by time, then rejections.
bool counts_before(const cell& a, const cell& b) {
  const auto rank = [](const cell& c) {
    return is_failure(c.verdict) ? 0 : c.verdict == verdict::pass ? 1 : 2;
  };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  return rank(a) == 1 && a.time && b.time && a.time->median_ms < b.time->median_ms;
}

judged_problem judged(const document& d, const cell& c) {
  const cell* const baseline = d.baseline_of(c);
  return {d.problem_of(c), c.kernel.name(),
          c.declared,      words_of(c),
          c.time,          d.gflops(c),
          c.speedup,       baseline == nullptr ? kzoo_precision{} : baseline->declared};
}

std::optional<double> mean_speedup(const std::vector<judged_problem>& all) {
  double logs = 0;
  for (const judged_problem& p : all) {
    if (!p.speedup || p.speedup->value <= 0 || p.time->clock == timing::clock::simulator)
      return std::nullopt;
    logs += std::log(p.speedup->value);
  }
  return all.empty() ? std::nullopt
                     : std::optional(std::exp(logs / static_cast<double>(all.size())));
}

}  // namespace

file_judgement judgement_of(const document& d, const std::string& plugin) {
  file_judgement j;
  if (const plugin_record* const record = d.plugin(plugin)) {
    j.library = record->file.string();
    j.sha256 = record->sha256;
    j.host_code = record->host_code;
  }
  std::set<std::string> libraries;
  coverage covered;
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    const cell* counts = nullptr;
    for (const cell& c : d.cells_of(i)) {
      if (c.kernel.plugin != plugin) continue;
      libraries.insert(c.libraries.begin(), c.libraries.end());
      covered.add(c.kernel.name(), c.findings);
      if (counts == nullptr || counts_before(c, *counts)) counts = &c;
    }
    if (counts != nullptr) j.problems.push_back(judged(d, *counts));
  }
  const auto fails = std::ranges::find_if(
      j.problems, [](const judged_problem& p) { return p.came_of_it.status != status::kPassed; });
  if (fails != j.problems.end())
    j.came_of_it = fails->came_of_it;
  else if (!j.problems.empty())
    j.came_of_it = j.problems.front().came_of_it;
  for (const judged_problem& p : j.problems)
    if (p.precision != 0 && std::ranges::count(j.precisions, p.precision) == 0)
      j.precisions.push_back(p.precision);
  j.speedup = mean_speedup(j.problems);
  j.libraries.assign(libraries.begin(), libraries.end());
  for (const gap& g : covered.gaps()) j.not_checked.push_back(to_string(g));
  return j;
}

file_judgement not_run(std::string_view status, std::string_view check, const std::string& reason) {
  file_judgement j;
  j.came_of_it = {status, "", std::string(check), reason};
  return j;
}

}  // namespace kzoo::results
