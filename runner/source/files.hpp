#pragma once
// A source with the headers that it includes, for a copy that compiles elsewhere.

#include "manifest/variants.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::source {

// A folder in which #include <…> is searched, and the folder of the copy for its headers.
struct include_folder {
  std::filesystem::path from, to;
};

// The original of each file of the copy, by its place there.
using copied_files = std::map<std::filesystem::path, std::filesystem::path>;

// The text of each file of the copy, by its place there.
using file_texts = std::map<std::filesystem::path, std::string>;
file_texts texts_of(const copied_files& files);
// Adds a generated file. Throws input::invalid if a copied file has its place.
void add_text(const std::filesystem::path& to, std::string text, file_texts& files);

// Returns whether the file is new. Throws input::invalid if another file has its place.
bool add_file(const std::filesystem::path& file, const std::filesystem::path& to,
              copied_files& files);

// Adds the file at place `to`, and the headers that it includes from its own folder, by "…", and
// from `folders`. Other headers are the compiler's. Throws input::invalid for a file that cannot be
// read or would lie outside the copy.
void add_with_headers(const std::filesystem::path& file, const std::filesystem::path& to,
                      const std::vector<include_folder>& folders, copied_files& files);

struct included {
  std::string name;
  bool quoted;  // "…", not <…>
};
std::vector<included> includes_in(std::string_view source);

// The part of a file that its kernels need. The file may be a whole program: its host code is left
// out, so that libraries that only host code calls may be missing.

// A function or class without __device__ that stays because needed code mentions it.
struct unmarked_code {
  std::string name;
  unsigned first_line, last_line;
};

struct needed_code {
  std::string text;  // the source; other code is blank, and lines keep their numbers
  std::vector<unmarked_code> unmarked{};
  std::optional<unsigned> open_line{};  // the line of a bracket without an end
  bool is_whole = false;                // nothing is left out
};

// Further changes to the text.
struct adaptation {
  bool simulated = false;      // replaces `extern __shared__ T x[]` by the simulator's declaration
  bool lacks_headers = false;  // declares namespaces of `using namespace`
  bool for_host = false;       // the entries are host functions; kernels may have the same names
  bool cuts_headers = false;   // cuts the source and its headers, as if they were one file
};

// Needed are declarations without a name, those that the entries (a launch's names of kernels) or
// the headers' texts mention, and all that needed code mentions.
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
// The source and these headers, uncut.
std::vector<cut_file> with_headers(const std::filesystem::path& source, std::string_view text);

// The text; lines that include these headers become empty.
std::string without_includes(std::string_view text, const std::vector<std::string>& headers);

}  // namespace kzoo::source
