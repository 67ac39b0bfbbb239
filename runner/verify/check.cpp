#include "verify/check.hpp"

#include "core/verdict.hpp"

#include <fmt/format.h>

namespace kzoo::verify {

std::string_view outcome_name(outcome o) {
  switch (o) {
    case outcome::pass:
      return "pass";
    case outcome::fail:
      return "fail";
    case outcome::skipped:
      return "skipped";
    case outcome::crashed:
      return "crashed";
    case outcome::hung:
      return "hung";
  }
  return "?";
}

namespace {}  // namespace

finding make(const check& c, subject& s) {
  const auto found = [&](outcome o, const std::string& detail) {
    return finding{c.name(), o, detail, {}};
  };
  try {
    return found(outcome::pass, c.look(s));
  } catch (const failed& f) {
    s.host().leave();  // what it leaves alive must not be the next one's
    return {c.name(), outcome::fail, f.what(), f.errors};
  } catch (const skipped& f) {
    return found(outcome::skipped, f.what());
  } catch (const setback& f) {
    switch (f.verdict) {
      case verdict::crashed:
        return found(outcome::crashed, f.what());
      case verdict::hung:
        return found(outcome::hung, f.what());
      case verdict::unsupported:
        return found(outcome::skipped, std::string("declined: ") + f.what());
      default:
        return found(outcome::fail, f.what());
    }
  }
}

finding after_hang(const check& c) {
  return {c.name(), outcome::skipped, "not tried: an earlier check hung", {}};
}

std::vector<finding> make_checks(tier t, bool about_problem, subject& s) {
  std::vector<finding> all;
  bool hung = false;
  for (const check* c : all_checks()) {
    if (c->from() > t || c->is_about_problem() != about_problem || !c->applies_to(s)) continue;
    all.push_back(hung ? after_hang(*c) : make(*c, s));
    hung = hung || all.back().outcome == outcome::hung;
  }
  return all;
}

void require(const referee::judgement& j, const std::string& doing) {
  if (!j.right) throw failed(doing + ": " + j.reason, j.errors);
}

std::string sweep(subject& s, const std::vector<problem>& problems) {
  std::size_t done = 0, declined = 0;
  std::string reason;
  for (const problem& p : problems) {
    try {
      s.prepare(p);
    } catch (const setback& b) {
      if (b.verdict != verdict::unsupported) throw;
      ++declined;
      reason = b.what();
      continue;
    }
    try {
      require(s.run().judgement, problem_name(p));
      s.finish();
    } catch (const setback& b) {
      throw setback(b.verdict, problem_name(p) + ": " + b.what());
    }
    ++done;
  }
  if (done == 0) throw skipped("declined: " + reason);
  const std::string some = fmt::format("{} problem{}", done, done == 1 ? "" : "s");
  return declined == 0 ? some : fmt::format("{}, {} declined: {}", some, declined, reason);
}

}  // namespace kzoo::verify
