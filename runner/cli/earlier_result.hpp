#pragma once
// The run before a result, to say what has changed since.

#include "results/document.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace kzoo::cli {

struct earlier_result {
  std::filesystem::path file;
  results::document results;
};

// The newest result beside `file` that began before `now`, is of a device whose times can be
// compared, and has a kernel of the plugin on one of the same problems. Looks at the files that
// were written last.
std::optional<earlier_result> find_earlier(const std::filesystem::path& file,
                                           const results::document& now, const std::string& plugin);

}  // namespace kzoo::cli
