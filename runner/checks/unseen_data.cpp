#include "checks/unseen_data.hpp"

#include "data/matrix.hpp"
#include "os/posix.hpp"
#include "timing/bootstrap.hpp"

#include <fmt/format.h>

namespace kzoo::checks {
namespace {

// Slower by more than this factor is suspicious.
constexpr double kMostUnseenRatio = 1.2;

struct unseen_run {
  reference::judgement judgement;
  double ms = 0;
};

unseen_run run_on(candidate& c, std::uint64_t seed, bool hot, bool judged) {
  problem p = c.current_problem();
  p.seed = seed & INT64_MAX;
  c.refill(p, "");
  worker::sample_request how;
  how.hot = hot;
  how.any_output = true;
  how.output.wanted = judged;
  if (judged) how.output = c.judge().wanted(p);
  worker::sample_report report = c.client().sample(how);
  report.output.known = false;  // no digest was given
  unseen_run run;
  run.judgement.right = true;
  run.ms = report.samples_ms.front();
  if (judged) run.judgement = c.judge().judge(p, report.output);
  check_tampering(p, report.changed, run.judgement);
  return run;
}

timing::ratio ratio_of(const std::vector<double>& ms, const std::vector<int>& rounds,
                       const timing::summary& seen) {
  return timing::paired_ratio(timing::summarise_without_interval(ms, rounds), seen);
}

bool is_much(const timing::ratio& slower) {
  return slower.likely && slower.likely->low > kMostUnseenRatio;
}

}  // namespace

reference::judgement unseen_data::time(candidate& c, int round, bool hot) {
  const unseen_run run = run_on(c, empty() ? seed_ : data::hash(seed_, round), hot, empty());
  if (!run.judgement.right) return run.judgement;
  ms_.push_back(run.ms);
  rounds_.push_back(round);
  return run.judgement;
}

bool unseen_data::is_slower_than(const timing::summary& samples) const {
  return is_much(ratio_of(ms_, rounds_, samples));
}

// Runs twice on new data, which is written again before the second run: only then it has seen it.
std::string unseen_data::compare(candidate& c, double max_seconds) const {
  constexpr int kPairs = 20, kFewestPairs = 5;
  const double start = steady_seconds();
  const auto out_of_time = [&] { return steady_seconds() - start > max_seconds; };
  std::vector<double> unseen, seen;
  std::vector<int> pairs;
  for (int pair = 0; pair < kPairs && (pair < kFewestPairs || !out_of_time()); ++pair) {
    pairs.push_back(pair);
    for (std::vector<double>* times : {&unseen, &seen})
      times->push_back(run_on(c, data::hash(~seed_, pair), false, false).ms);
  }
  const timing::ratio slower =
      ratio_of(unseen, pairs, timing::summarise_without_interval(seen, pairs));
  return is_much(slower) ? fmt::format(
                               "takes {:.3g} times as long on data that it has not seen: it "
                               "caches results",
                               slower.value)
                         : "";
}

}  // namespace kzoo::checks
