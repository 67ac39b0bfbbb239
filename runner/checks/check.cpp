#include "checks/check.hpp"

#include "core/verdict.hpp"

#include <fmt/format.h>

namespace kzoo::checks {

results::finding run_check(const check& which, candidate& c) {
  const auto found = [&](results::outcome o, const std::string& detail) {
    return results::finding{which.name(), o, detail, {}};
  };
  try {
    return found(results::outcome::pass, which.run(c));
  } catch (const failed& f) {
    c.host().leave();  // threads it left running must not disturb the next check
    return {which.name(), results::outcome::fail, f.what(), f.errors};
  } catch (const skipped& f) {
    return found(results::outcome::skipped, f.what());
  } catch (const failure& f) {
    switch (f.verdict) {
      case verdict::crashed:
        return found(results::outcome::crashed, f.what());
      case verdict::hung:
        return found(results::outcome::hung, f.what());
      case verdict::unsupported:
        return found(results::outcome::skipped, std::string("declined: ") + f.what());
      default:
        return found(results::outcome::fail, f.what());
    }
  }
}

results::finding skipped_after_hang(const check& which) {
  return {which.name(), results::outcome::skipped, "not run: an earlier check hung", {}};
}

std::vector<results::finding> run_checks(tier t, bool about_problem, candidate& c) {
  std::vector<results::finding> all;
  bool hung = false;
  for (const check* which : all_checks()) {
    if (which->from() > t || which->is_about_problem() != about_problem || !which->applies_to(c))
      continue;
    all.push_back(hung ? skipped_after_hang(*which) : run_check(*which, c));
    hung = hung || all.back().outcome == results::outcome::hung;
  }
  return all;
}

void require(const reference::judgement& j, const std::string& doing) {
  if (!j.right) throw failed(doing + ": " + j.reason, j.errors);
}

std::string sweep(candidate& c, const std::vector<problem>& problems) {
  std::size_t done = 0, declined = 0;
  std::string reason;
  for (const problem& p : problems) {
    try {
      c.prepare(p);
    } catch (const failure& f) {
      if (f.verdict != verdict::unsupported) throw;
      ++declined;
      reason = f.what();
      continue;
    }
    try {
      require(c.run().judgement, problem_name(p));
      c.finish();
    } catch (const failure& f) {
      throw failure(f.verdict, problem_name(p) + ": " + f.what());
    }
    ++done;
  }
  if (done == 0) throw skipped("declined: " + reason);
  const std::string some = fmt::format("{} problem{}", done, done == 1 ? "" : "s");
  return declined == 0 ? some : fmt::format("{}, {} declined: {}", some, declined, reason);
}

}  // namespace kzoo::checks
