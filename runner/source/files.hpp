#pragma once
// A source with the headers that it includes, for a copy that compiles elsewhere.

#include "manifest/variants.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::source {

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

// An include: the name, and whether it stands in quotes.
struct included {
  std::string name;
  bool quoted;
};
std::vector<included> includes_in(std::string_view source);

// The part of a file that its kernels need. The file may be a whole program: its host code is left
// out, so libraries that only host code calls may be missing.

// A function or a class that is not marked as the device's, and stays because what is needed
// mentions it.
struct unmarked_code {
  std::string name;
  unsigned first_line, last_line;
};

struct needed_code {
  std::string text;  // the source with all else blank, in the lines that it had
  std::vector<unmarked_code> unmarked{};
  unsigned open_line = 0;  // of a bracket that has no end, or 0
  bool is_whole = false;   // the text is that of the source
};

// Further changes to the text.
struct adaptation {
  bool simulated = false;  // a function's `extern __shared__ T x[]` becomes what the simulator has
  bool lacks_headers = false;  // namespaces that are used are declared
  bool for_host = false;       // the entries are functions of the host, not kernels of their names
  bool cuts_headers = false;   // not the source alone
};

// Needed is what has no name, what the entries mention, which name kernels as a launch does, what
// the texts of included headers do, and what all that mentions.
needed_code needed_by(const std::vector<std::string>& entries, std::string_view source,
                      const std::vector<std::string>& headers, const adaptation& to);
struct cut_file {
  std::filesystem::path file;
  needed_code code;
};
// The needed code of the source, then of the headers that it includes in quotes.
std::vector<cut_file> kernel_code(const manifest::described_kernels& kernels,
                                  const std::filesystem::path& source, std::string_view text,
                                  const adaptation& to);
// As they stand.
std::vector<cut_file> with_headers(const std::filesystem::path& source, std::string_view text);

// Lines that include these headers are empty.
std::string without_includes(std::string_view text, const std::vector<std::string>& headers);

}  // namespace kzoo::source
