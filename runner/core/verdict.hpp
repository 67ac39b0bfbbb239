#pragma once
// What came of one cell.

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kzoo {

enum class verdict {
  pass,
  wrong,
  impossible_time,  // right, and timed as faster than the device can be
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
  switch (v) {
    case verdict::pass:
      return "pass";
    case verdict::wrong:
      return "wrong";
    case verdict::impossible_time:
      return "impossible time";
    case verdict::crashed:
      return "crashed";
    case verdict::hung:
      return "hung";
    case verdict::error:
      return "error";
    case verdict::unsupported:
      return "unsupported";
    case verdict::unavailable:
      return "unavailable";
  }
  return "?";
}

// Nothing was asked of the kernel: it says so beforehand, or is not there.
constexpr bool is_declined(verdict v) {
  return v == verdict::unsupported || v == verdict::unavailable;
}
constexpr bool is_failure(verdict v) { return v != verdict::pass && !is_declined(v); }

// Why a cell did not get as far as being judged: the plugin declined, failed, crashed or hung.
class failure : public std::runtime_error {
 public:
  failure(kzoo::verdict v, const std::string& reason) : std::runtime_error(reason), verdict(v) {}
  kzoo::verdict verdict;
};

}  // namespace kzoo
