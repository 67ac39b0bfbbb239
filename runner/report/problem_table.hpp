#pragma once
// One problem's results: a row for each variant, and a sentence for each that did not pass.

#include "results/results.hpp"

#include <string>

namespace kzoo::report {

// "" when nothing of the problem can be shown.
std::string problem_table(const results::document& d, std::size_t problem, bool colour);

// The cells that did not pass, one line for each reason, with all that share it. Those that are
// unavailable on every problem are not among them: the report's head names them.
std::string reasons(const results::document& d, std::size_t problem, bool colour);

}  // namespace kzoo::report
