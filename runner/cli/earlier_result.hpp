#pragma once
// Finds the run before a result, to report changes.

#include "results/document.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace kzoo::cli {

struct earlier_result {
  std::filesystem::path file;
  results::document results;
};

// The newest result next to `file` that began before `now`, on a comparable device, with a kernel
// of the plugin and a problem in common. Looks only at the files written last.
std::optional<earlier_result> find_earlier(const std::filesystem::path& file,
                                           const results::document& now, const std::string& plugin);

}  // namespace kzoo::cli
