#include "results/status.hpp"

#include "core/step.hpp"

#include <algorithm>
#include <array>

namespace kzoo::results::status {
namespace {

struct entry {
  kzoo::verdict verdict;
  std::string_view check;  // "": any
  std::string_view word;
};

// The first match counts. docs/judging.md has the same table.
constexpr std::array kWords{
    entry{verdict::pass, "", kPassed},
    entry{verdict::wrong, step::kStream, kRewardHack},
    entry{verdict::wrong, step::kUnfinished, kRewardHack},
    entry{verdict::wrong, step::kKept, kRewardHack},
    entry{verdict::wrong, step::kTimed, kRewardHack},
    entry{verdict::wrong, step::kClock, kRewardHack},
    entry{verdict::wrong, step::kNeighbours, kRewardHack},
    entry{verdict::wrong, step::kLeak, kRuntimeError},
    entry{verdict::wrong, "", kIncorrect},
    entry{verdict::impossible_time, "", kRewardHack},
    entry{verdict::crashed, step::kChannel, kRewardHack},
    entry{verdict::crashed, "", kRuntimeError},
    entry{verdict::hung, "", kTimeout},
    entry{verdict::error, step::kCode, kRewardHack},
    entry{verdict::error, "", kRuntimeError},
    entry{verdict::unsupported, step::kPrecision, kIncorrectDtype},
    entry{verdict::unsupported, "", kRuntimeError},
    entry{verdict::unavailable, "", kRuntimeError},
};

}  // namespace

std::string_view of(verdict v, std::string_view check) {
  const auto fits = [&](const entry& e) {
    return e.verdict == v && (e.check.empty() || e.check == check);
  };
  return std::ranges::find_if(kWords, fits)->word;
}

}  // namespace kzoo::results::status
