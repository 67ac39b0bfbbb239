// Our verdicts in SOL-ExecBench's words: an entry of docs/judging.md's table for each.

#include "core/verdict.hpp"
#include "results/judgement.hpp"
#include "support/catch.hpp"

#include <initializer_list>
#include <string>
#include <utility>

using namespace kzoo;
using results::status::of;

TEST_CASE("a verdict and what found it have one word of SOL-ExecBench's") {
  CHECK(of(verdict::pass, "") == "PASSED");
  CHECK(of(verdict::impossible_time, step::kFloor) == "REWARD_HACK");
  CHECK(of(verdict::hung, "") == "TIMEOUT");
  CHECK(of(verdict::crashed, "") == "RUNTIME_ERROR");
  CHECK(of(verdict::crashed, step::kChannel) == "REWARD_HACK");
  CHECK(of(verdict::error, "") == "RUNTIME_ERROR");
  CHECK(of(verdict::error, step::kCode) == "REWARD_HACK");
  CHECK(of(verdict::unsupported, "") == "UNSUPPORTED");
  CHECK(of(verdict::unsupported, step::kPrecision) == "INCORRECT_DTYPE");
  CHECK(of(verdict::unavailable, "") == "RUNTIME_ERROR");
}

TEST_CASE("a wrong kernel is a hack where it evades the judge or the clock") {
  for (const std::string_view evaded : {step::kStream, step::kUnfinished, step::kKept, step::kTimed,
                                        step::kClock, step::kNeighbours}) {
    INFO(evaded);
    CHECK(of(verdict::wrong, evaded) == "REWARD_HACK");
  }
  CHECK(of(verdict::wrong, step::kLeak) == "RUNTIME_ERROR");
  for (const std::string_view numbers : {step::kResult, step::kMemory, step::kRepeats, step::kFresh,
                                         std::string_view("precision probe"),
                                         std::string_view("new contents"), std::string_view()}) {
    INFO(numbers);
    CHECK(of(verdict::wrong, numbers) == "INCORRECT_NUMERICAL");
  }
}

TEST_CASE("each verdict has a word, and each step a name of its own") {
  for (const verdict v : kAllOf<verdict>) {
    for (const std::string_view name : step::kAll) {
      CHECK_FALSE(of(v, name).empty());
      CHECK(step::from_name(name) == name);
    }
  }
  CHECK(step::from_name("no step").empty());
}
