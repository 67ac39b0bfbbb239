#include "checks/check.hpp"

#include <fmt/format.h>

#include <set>

namespace kzoo::checks {

results::finding run_check(const check& which, candidate& c) {
  const auto found = [&](results::outcome o, const std::string& detail) {
    results::finding bad{which.name, o, detail, {}};
    bad.at = c.last_prepared();
    return bad;
  };
  const auto left_out = [&](const std::string& why) {
    return results::finding{which.name, results::outcome::skipped, why, {}, why};
  };
  try {
    const covered all = which.run(c);
    return {which.name, results::outcome::pass, all.detail, {}, all.not_checked};
  } catch (const failed& f) {
    c.client().leave();  // threads it left running must not disturb the next check
    results::finding bad = found(results::outcome::fail, f.what());
    bad.errors = f.errors;
    if (f.step != step::kResult) bad.step = f.step;
    return bad;
  } catch (const skipped& f) {
    return left_out(f.what());
  } catch (const failure& f) {
    switch (f.verdict) {
      case verdict::crashed: return found(results::outcome::crashed, f.what());
      case verdict::hung: return found(results::outcome::hung, f.what());
      case verdict::unsupported: return left_out(std::string(results::kDeclined) + f.what());
      default: {
        results::finding bad = found(results::outcome::fail, f.what());
        bad.step = f.step;
        return bad;
      }
    }
  }
}

results::finding skipped_after_hang(const check& which) {
  const std::string why = "not run: an earlier check hung";
  return {which.name, results::outcome::skipped, why, {}, why};
}

void require(const reference::judgement& j, const std::string& doing) {
  if (!j.right) throw failed(doing + ": " + j.reason, j.errors, j.step);
}

covered sweep(candidate& c, const std::vector<problem>& problems) {
  std::set<problem> done;
  std::size_t declined = 0;
  bool padded = false;  // rejected only for its padding
  std::string reason;
  for (const problem& asked : problems) {
    // A variant takes a problem with any numbers if it has taken it.
    const bool is_own = as_told(asked) == as_told(c.current_problem());
    const fitted_problem fitted = is_own ? fitted_problem{asked, ""} : fit(c, asked);
    if (!fitted.objection.empty()) {
      ++declined;
      reason = fitted.objection;
      padded = padded || fitted.taken;
    }
    if (!fitted.taken) continue;
    const problem& p = *fitted.taken;
    if (!done.insert(p).second) continue;
    try {
      try {
        c.prepare(p);
      } catch (const failure& f) {
        if (f.verdict != verdict::unsupported) throw;
        done.erase(p);
        ++declined;
        reason = f.what();
        continue;
      }
      require(c.run().judgement, problem_name(p));
      c.destroy();
    } catch (const failure& f) {
      throw failure(f.verdict, problem_name(p) + ": " + f.what());
    }
  }
  if (done.empty()) throw skipped(std::string(results::kDeclined) + reason);
  covered all{fmt::format("{} problem{}", done.size(), done.size() == 1 ? "" : "s")};
  if (declined > 0) {
    all.not_checked = fmt::format("{} of {} problems{}, which it declines: {}", declined,
                                  problems.size(), padded ? ", with padded rows" : "", reason);
    all.detail += "; not " + *all.not_checked;
  }
  return all;
}

const std::vector<check>& all_checks() {
  static const std::vector<check> kAll = [] {
    std::vector<check> all{freivalds()};
    for (const std::vector<check>& more :
         {sweeps(), std::vector{batch_invariance()}, checks_of_state(), sanitizers()})
      all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kAll;
}

std::vector<results::finding> run_checks(tier t, bool about_problem, candidate& c) {
  std::vector<results::finding> all;
  bool hung = false;
  for (const check& which : all_checks()) {
    if (which.from > t || which.is_about_problem != about_problem || !which.applies_to(c)) continue;
    all.push_back(hung ? skipped_after_hang(which) : run_check(which, c));
    hung = hung || all.back().outcome == results::outcome::hung;
  }
  return all;
}

}  // namespace kzoo::checks
