#pragma once
// The outcome of one cell.

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kzoo {

enum class verdict {
  pass,
  wrong,
  impossible_time,  // correct, but timed faster than the device's measured peaks allow
  crashed,
  hung,
  error,
  unsupported,
  unavailable
};
inline constexpr std::array kVerdicts{
    verdict::pass, verdict::wrong, verdict::impossible_time, verdict::crashed,
    verdict::hung, verdict::error, verdict::unsupported,     verdict::unavailable};

constexpr std::string_view verdict_name(verdict v) {
  constexpr std::array<std::string_view, kVerdicts.size()> kNames{
      "pass", "wrong", "impossible time", "crashed", "hung", "error", "unsupported", "unavailable"};
  static_assert(!kNames.back().empty());
  return kNames[static_cast<std::size_t>(v)];
}

// The kernel did not run: it does not support the problem, or is not built for the device.
constexpr bool is_declined(verdict v) {
  return v == verdict::unsupported || v == verdict::unavailable;
}
constexpr bool is_failure(verdict v) { return v != verdict::pass && !is_declined(v); }

// Why a cell has no result to judge: the plugin rejected the problem, failed, crashed or hung.
class failure : public std::runtime_error {
 public:
  failure(kzoo::verdict v, const std::string& reason, std::string_view what = "")
      : std::runtime_error(reason), verdict(v), step(what) {}
  kzoo::verdict verdict;
  std::string_view step;  // of core/step.hpp, or ""
};

}  // namespace kzoo
