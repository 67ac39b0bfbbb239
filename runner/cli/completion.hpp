#pragma once
// Completion in shells: scripts/completion asks `runner --complete LINE`, and offers what is
// printed.

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace kzoo::cli {

inline constexpr std::string_view kCompleteCommand = "--complete";

// What the last word of the line, which ends at the cursor, may become; empty where that is any
// file. Commands and options are those of the app.
std::vector<std::string> completions(const CLI::App& runner, std::string_view line);

}  // namespace kzoo::cli
