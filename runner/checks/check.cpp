#include "checks/check.hpp"

#include "core/verdict.hpp"

#include <fmt/format.h>

namespace kzoo::checks {

results::finding make(const check& c, candidate& s) {
  const auto found = [&](results::outcome o, const std::string& detail) {
    return results::finding{c.name(), o, detail, {}};
  };
  try {
    return found(results::outcome::pass, c.look(s));
  } catch (const failed& f) {
    s.host().leave();  // what it leaves alive must not be the next one's
    return {c.name(), results::outcome::fail, f.what(), f.errors};
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

results::finding after_hang(const check& c) {
  return {c.name(), results::outcome::skipped, "not tried: an earlier check hung", {}};
}

std::vector<results::finding> make_checks(tier t, bool about_problem, candidate& s) {
  std::vector<results::finding> all;
  bool hung = false;
  for (const check* c : all_checks()) {
    if (c->from() > t || c->is_about_problem() != about_problem || !c->applies_to(s)) continue;
    all.push_back(hung ? after_hang(*c) : make(*c, s));
    hung = hung || all.back().outcome == results::outcome::hung;
  }
  return all;
}

void require(const reference::judgement& j, const std::string& doing) {
  if (!j.right) throw failed(doing + ": " + j.reason, j.errors);
}

std::string sweep(candidate& s, const std::vector<problem>& problems) {
  std::size_t done = 0, declined = 0;
  std::string reason;
  for (const problem& p : problems) {
    try {
      s.prepare(p);
    } catch (const failure& b) {
      if (b.verdict != verdict::unsupported) throw;
      ++declined;
      reason = b.what();
      continue;
    }
    try {
      require(s.run().judgement, problem_name(p));
      s.finish();
    } catch (const failure& b) {
      throw failure(b.verdict, problem_name(p) + ": " + b.what());
    }
    ++done;
  }
  if (done == 0) throw skipped("declined: " + reason);
  const std::string some = fmt::format("{} problem{}", done, done == 1 ? "" : "s");
  return declined == 0 ? some : fmt::format("{}, {} declined: {}", some, declined, reason);
}

}  // namespace kzoo::checks
