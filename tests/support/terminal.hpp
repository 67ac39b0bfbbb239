#pragma once
// The runner on a terminal of its own, as a user at a keyboard sees it.

#include "support/program.hpp"

#include <string>

namespace kzoo::test {

// Everything that it writes, stdout and stderr together, is in `out`. `setting` as in runner().
run_result on_terminal(const std::string& arguments, int columns, const std::string& setting = "");

// The width of the widest line, where a carriage return begins one as well, in characters. Escape
// sequences have no width.
std::size_t widest_line(const std::string& text);

}  // namespace kzoo::test
