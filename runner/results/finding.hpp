#pragma once
// The result of one check, and what checks could not cover.

#include "core/problem.hpp"
#include "reference/judge.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::results {

enum class outcome { pass, fail, skipped, crashed, hung };
inline constexpr std::array kOutcomes{outcome::pass, outcome::fail, outcome::skipped,
                                      outcome::crashed, outcome::hung};
std::string_view outcome_name(outcome o);

struct finding {
  std::string check;
  results::outcome outcome{};
  std::string detail;  // what was checked, or what is wrong and where, or why it was skipped
  std::optional<reference::error_map> errors;
  std::string not_checked{};    // what part of the check could not be made, and why; "": nothing
  std::string_view step{};      // of core/step.hpp, where that says more than the check; not stored
  std::optional<problem> at{};  // on which the kernel failed, where it is known; not stored
};

// A finding that is no failure, but to be told.
inline finding remark(std::string_view check, const std::string& detail) {
  return {std::string(check), outcome::pass, detail, {}};
}
// The name of a finding that excuses a cell: it failed in a worker where another kernel had run,
// and passes in one of its own. Names that kernel.
inline constexpr std::string_view kOwnWorker = "own worker";
// And of one that tells of memory that is never freed.
inline constexpr std::string_view kMemory = "memory";
// And of one that tells of limits of the device that it changes.
inline constexpr std::string_view kLimits = "limits";
// And of one whose process was killed from outside between two problems.
inline constexpr std::string_view kWorkerEnded = "worker ended";
// And of one that has another library at hand, which its name does not say.
inline constexpr std::string_view kLibrary = "library";
finding calls_libraries(const std::vector<std::string>& names);
// And of one that changes how the runner itself may work.
inline constexpr std::string_view kRunner = "runner";
// And of one that keeps people waiting for its checks.
inline constexpr std::string_view kSlowChecks = "slow checks";
// And of one that takes none of the sizes of some checks.
inline constexpr std::string_view kSkippedChecks = "skipped checks";

// And of one that says at which sizes a wrong kernel is right, and at which not.
inline constexpr std::string_view kSizes = "sizes";
// And of one that says what is wrong with the memory accesses of a wrong kernel, if anything is.
inline constexpr std::string_view kAccesses = "memory accesses";

// The check that says whether the bits of a row depend on M, and no more.
inline constexpr std::string_view kBatchInvariance = "batch invariance";
// "yes", "no", "up to M = 64", "unknown"; "" where it was not made.
std::string batch_invariance(const std::vector<finding>& findings);

// How the reason begins of a check that is skipped because the kernel takes none of its problems.
inline constexpr std::string_view kDeclined = "declined: ";
// How many such there are, as a remark.
std::optional<finding> skipped_checks(const std::vector<finding>& findings);

// Whether checks that took so long did so for the sake of a large workspace, as a remark.
std::optional<finding> slow_checks(double seconds, std::uint64_t workspace_bytes);

inline bool is_bad(const finding& f) {
  return f.outcome != outcome::pass && f.outcome != outcome::skipped;
}

// A part of a check that could not be made, and for which kernels.
struct gap {
  std::string check, why;
  std::vector<std::string> kernels;
};

// What the checks could not cover, over several kernels.
class coverage {
 public:
  // Adds the findings on a kernel.
  void add(const std::string& kernel, const std::vector<finding>& findings);

  bool complete() const { return gaps_.empty(); }
  // In the order in which they were found.
  const std::vector<gap>& gaps() const { return gaps_; }

 private:
  std::vector<gap> gaps_;
};

// "AddressSanitizer, of naive:8x8, smem:8x8 and 3 more: there is no build ...".
std::string to_string(const gap& g);

}  // namespace kzoo::results
