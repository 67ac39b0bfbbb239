#pragma once
// A source with the headers that it includes, for a copy that compiles elsewhere.

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::compile {

// A folder that <…> is searched in, and where what is found there goes in the copy.
struct include_folder {
  std::filesystem::path from, to;
};

// Files by where they go in the copy.
using copied_files = std::map<std::filesystem::path, std::filesystem::path>;

// Texts by where they go.
using file_texts = std::map<std::filesystem::path, std::string>;
file_texts texts_of(const copied_files& files);
// Adds a file that is written for the copy. Throws input::invalid where a copied one has its place.
void add_text(const std::filesystem::path& to, std::string text, file_texts& files);

// Returns whether the file is new. Throws input::invalid where another one has its place.
bool add_file(const std::filesystem::path& file, const std::filesystem::path& to,
              copied_files& files);

// Adds the file, which goes to `to`, and what it includes: by "…" from beside it, and from the
// folders. Other headers are the compiler's. Throws input::invalid for a file that cannot be read,
// and for one that would lie outside of the copy.
void add_with_headers(const std::filesystem::path& file, const std::filesystem::path& to,
                      const std::vector<include_folder>& folders, copied_files& files);

// What a source includes: the name, and whether it stands in quotes.
struct included {
  std::string name;
  bool quoted;
};
std::vector<included> includes_in(std::string_view source);

}  // namespace kzoo::compile
