#pragma once
// The environment of a child.

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::process {

// This process's variables, as "NAME=value", without those that `settings` replaces, and with
// these. A name must not be there twice: getenv() finds the first, and a shell passes on the last.
std::vector<std::string> whole_environment(const std::vector<std::string>& settings);

// The same of a confined child: only what programs need, what `variables` names, and what the
// user's KZOO_PASS names, a list with commas. A name with TOKEN, SECRET, PASSWORD or KEY in it is
// passed on only where KZOO_PASS has it in full.
std::vector<std::string> clean_environment(const std::vector<std::string>& settings,
                                           const std::vector<std::string_view>& variables);

// Whether Nsight Systems or another tool watches this process and its children, by variables and
// files of its own.
bool has_profiler();

}  // namespace kzoo::process
