#pragma once
// One problem's results: a row for each variant, and a sentence for each that did not pass.

#include "report/page.hpp"
#include "results/document.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::report {

// "1.05x", "0.998x tie": the baseline's time over the cell's; "" without one.
std::string speedup_text(const results::document& d, const results::cell& c);

// Has no rows when nothing of the problem can be shown.
table problem_table(const results::document& d, std::size_t problem);

// The least time that the problem takes, one line for each precision that was timed; none where no
// ceilings are known.
std::vector<std::string> floors(const results::document& d, std::size_t problem);

// The cells that did not pass, one line for each reason, with all that share it. Those that are
// unavailable on every problem are not among them: the report's head names them.
struct reason {
  kzoo::verdict verdict;
  std::vector<std::string> kernels;
  std::string text;
  std::optional<reference::error_map> errors;  // of the first of them
};
std::vector<reason> reasons(const results::document& d, std::size_t problem);
style style_of(verdict v);

// The cells of which some samples were taken while the device was throttled.
struct throttling {
  std::string kernel, text;
};
std::vector<throttling> throttled(const results::document& d, std::size_t problem);

}  // namespace kzoo::report
