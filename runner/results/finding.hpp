#pragma once
// The results of checks, what checks could not cover, and all checks on plugins.

#include "core/problem.hpp"
#include "core/verdict.hpp"
#include "os/enums.hpp"
#include "reference/judge.hpp"
#include "results/plugin.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::results {

KZOO_ENUM(outcome, pass, fail, skipped, crashed, hung);

// The result of one check.
struct finding {
  std::string check;
  results::outcome outcome{};
  std::string detail;  // what was checked, or what is wrong and where, or why it was skipped
  std::optional<reference::error_map> errors;
  std::optional<std::string> not_checked{};  // the part of the check that was impossible, and why
  std::string_view step{};      // a kzoo::step, if more precise than the check; not stored
  std::optional<problem> at{};  // where the kernel failed, if known; not stored
};

// A finding that is no failure.
inline finding remark(std::string_view check, const std::string& detail) {
  return {std::string(check), outcome::pass, detail, {}};
}
// Names of remarks on a kernel. It fails after another kernel in its worker, but passes alone.
inline constexpr std::string_view kOwnWorker = "own worker";
// The plugin keeps memory that it never frees.
inline constexpr std::string_view kMemory = "memory";
// The plugin changes limits of the device.
inline constexpr std::string_view kLimits = "limits";
// The plugin's process was killed from outside between two problems.
inline constexpr std::string_view kWorkerEnded = "worker ended";
// The plugin has loaded a GEMM library that its name does not contain.
inline constexpr std::string_view kLibrary = "library";
finding calls_libraries(const std::vector<std::string>& names);
// The plugin changes settings of the runner's process.
inline constexpr std::string_view kRunner = "runner";
// The plugin's checks take long.
inline constexpr std::string_view kSlowChecks = "slow checks";
// The plugin supports none of the sizes of some checks.
inline constexpr std::string_view kSkippedChecks = "skipped checks";

// The sizes at which a wrong kernel is right or wrong.
inline constexpr std::string_view kSizes = "sizes";
// The faults in the memory accesses of a wrong kernel, if there are any.
inline constexpr std::string_view kAccesses = "memory accesses";

// An informational check: whether the bits of a row depend on M.
inline constexpr std::string_view kBatchInvariance = "batch invariance";
// "yes", "no", "up to M = 64", "unknown". Empty if it was not checked.
std::string batch_invariance(const std::vector<finding>& findings);

// Prefix of the reason of a check that is skipped because the kernel rejects all its problems.
inline constexpr std::string_view kDeclined = "declined: ";
// A remark with the number of such checks.
std::optional<finding> skipped_checks(const std::vector<finding>& findings);

// A remark if checks took long because of a large workspace.
std::optional<finding> slow_checks(double seconds, std::uint64_t workspace_bytes);

inline bool is_bad(const finding& f) {
  return f.outcome != outcome::pass && f.outcome != outcome::skipped;
}

// An impossible part of a check, with its kernels.
struct gap {
  std::string check, why;
  std::vector<std::string> kernels;
};

class coverage {
 public:
  void add(const std::string& kernel, const std::vector<finding>& findings);

  bool complete() const { return gaps_.empty(); }
  const std::vector<gap>& gaps() const { return gaps_; }

 private:
  std::vector<gap> gaps_;
};

// "AddressSanitizer, of naive:8x8, smem:8x8 and 3 more: there is no build ...".
std::string to_string(const gap& g);

// A variant with one of its element types, and a kind of problem.
struct validated_variant {
  std::string kernel;  // plugin:variant
  element_types dtype;
  kzoo_precision declared{};
  std::string problem{};  // the checked problem; empty: it supports none that was tried
  std::string kind{};     // "5 groups of rows"; empty: a plain GEMM
  std::vector<results::finding> findings{};
};

// The results of all checks on plugins: `runner validate`.
struct validation {
  results::device device;
  kzoo::tier tier = kzoo::tier::full;
  std::vector<plugin_record> plugins;
  std::vector<validated_variant> variants;
  double wall_seconds = 0;
};

// No check of any variant could be made.
bool nothing_ran(const validation& v);

// 0: a variant was checked, no check failed, and every existing library could be used; else 1.
int exit_code(const validation& v);

}  // namespace kzoo::results
