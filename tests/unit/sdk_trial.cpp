// Which problems have a trial of candidates, and which share a choice.
#include <kzoo/trial.hpp>

#include <cstring>

#include "support/catch.hpp"

namespace {

kzoo_problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t batch = 0) {
  kzoo_problem p{};
  p.m = m;
  p.n = n;
  p.k = k;
  p.batch = batch;
  p.alpha = 1;
  return p;
}

bool share_a_choice(const kzoo_problem& x, const kzoo_problem& y) {
  const kzoo_problem a = kzoo::without_scalars(x), b = kzoo::without_scalars(y);
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

TEST_CASE("the shapes of checks are not worth a trial, those that are timed are", "[trial]") {
  for (const kzoo_problem& p : {problem_of(1, 1, 1), problem_of(97, 89, 101),
                                problem_of(3, 5, 70001), problem_of(64, 96, 4096)})
    CHECK_FALSE(kzoo::is_worth_a_trial(p));
  for (const kzoo_problem& p : {problem_of(512, 512, 512), problem_of(1, 16384, 16384),
                                problem_of(128, 128, 128, 64), problem_of(16384, 16384, 16384)})
    CHECK(kzoo::is_worth_a_trial(p));
}

TEST_CASE("problems that differ in scalars alone have one choice", "[trial]") {
  const kzoo_problem p = problem_of(512, 512, 512);
  kzoo_problem scaled = p, added = p, other = p;
  scaled.alpha = -0.7;
  scaled.scale_a = 3;
  added.beta = 0.3;
  other.lda = 520;
  CHECK(share_a_choice(p, scaled));
  CHECK_FALSE(share_a_choice(p, added));
  CHECK_FALSE(share_a_choice(p, other));
  kzoo_problem added_more = added;
  added_more.beta = -1;
  CHECK(share_a_choice(added, added_more));
}

TEST_CASE("the simulator has no speed: no candidate is run, and the likeliest is taken",
          "[trial]") {
  kzoo::trial_choices choices;
  bool has_run = false;
  const auto run = [&](std::size_t, const kzoo_arguments&) { has_run = true; };
  CHECK(choices.fastest_of(problem_of(512, 512, 512), 3, 0, run) == 0);
  CHECK_FALSE(has_run);
}
