#pragma once
// The runner on its own terminal, as a user at a keyboard sees it.

#include "support/program.hpp"

#include <string>

namespace kzoo::test {

// `out` holds stdout and stderr together. `setting`: as in runner().
run_result on_terminal(const std::string& arguments, int columns, const std::string& setting = "");

// Characters in the widest line, without escape sequences. A carriage return also begins a line.
std::size_t widest_line(const std::string& text);

}  // namespace kzoo::test
