#pragma once
// Shell completion: scripts/completion offers the output of `runner --complete LINE`.

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace kzoo::cli {

inline constexpr std::string_view kCompleteCommand = "--complete";

// Completions of the last word of the line, which ends at the cursor. Empty if any file fits.
std::vector<std::string> completions(const CLI::App& runner, std::string_view line);

}  // namespace kzoo::cli
