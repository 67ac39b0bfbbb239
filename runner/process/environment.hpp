#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::process {

// This process's variables, as "NAME=value", with `settings` in place of variables of the same
// name. No name may occur twice: getenv() finds the first, a shell passes on the last.
std::vector<std::string> whole_environment(const std::vector<std::string>& settings);

// The environment of a confined child: what programs need, and what `variables` and the user's
// KZOO_PASS (comma-separated) name. A name with TOKEN, SECRET, PASSWORD or KEY is passed only if
// KZOO_PASS has it in full.
std::vector<std::string> clean_environment(const std::vector<std::string>& settings,
                                           const std::vector<std::string_view>& variables);

// Whether a tool, such as Nsight Systems, watches this process and its children.
bool has_profiler();

}  // namespace kzoo::process
