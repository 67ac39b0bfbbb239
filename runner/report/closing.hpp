#pragma once
// The first words of a report's last line: what it comes to.

#include "report/text.hpp"
#include "results/coverage.hpp"

#include <string_view>

namespace kzoo::report {

struct closing_words {
  std::string_view words;
  style look;
};

// "ok" is for runs in which every check was made and nothing failed.
inline closing_words closing_words_for(bool right, const results::coverage& covered) {
  if (!right) return {"FAILED", style::bad};
  if (!covered.complete()) return {"PARTLY CHECKED", style::bold};
  return {"ok", style::good};
}

}  // namespace kzoo::report
