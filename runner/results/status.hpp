#pragma once
// Outcomes in the words of SOL-ExecBench (EvaluationStatus), for programs that know them.

#include "core/verdict.hpp"

#include <string_view>

namespace kzoo::results::status {

inline constexpr std::string_view kPassed = "PASSED", kIncorrect = "INCORRECT_NUMERICAL",
                                  kRuntimeError = "RUNTIME_ERROR", kCompileError = "COMPILE_ERROR",
                                  kTimeout = "TIMEOUT", kRewardHack = "REWARD_HACK",
                                  kIncorrectDtype = "INCORRECT_DTYPE";

// The word for a verdict; `check`: results::cell::check.
std::string_view of(verdict v, std::string_view check);

}  // namespace kzoo::results::status
