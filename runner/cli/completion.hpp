#pragma once
// Shell completion: scripts/completion offers the output of `runner --complete LINE`.

#include "cli/subcommands.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kzoo::cli {

inline constexpr std::string_view kCompleteCommand = "--complete";

// Completions of the last word of the line, which ends at the cursor. Empty if any file fits.
std::vector<std::string> completions(const CLI::App& runner, const option_values& values,
                                     std::string_view line);

}  // namespace kzoo::cli
