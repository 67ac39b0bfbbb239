#pragma once
// A source with the headers that it includes, for a copy that compiles elsewhere.

#include <filesystem>
#include <map>
#include <vector>

namespace kzoo::compile {

// A folder that <…> is searched in, and where what is found there goes in the copy.
struct include_folder {
  std::filesystem::path from, to;
};

// Files by where they go in the copy.
using copied_files = std::map<std::filesystem::path, std::filesystem::path>;

// Adds the file, which goes to `to`, and what it includes: by "…" from beside it, and from the
// folders. Other headers are the compiler's. Throws input::invalid for a file that cannot be read,
// and for one that would lie outside of the copy.
void add_with_headers(const std::filesystem::path& file, const std::filesystem::path& to,
                      const std::vector<include_folder>& folders, copied_files& files);

}  // namespace kzoo::compile
