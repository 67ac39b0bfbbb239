#pragma once
// What kernels need of the file that they are in, which may be a whole program: its host code is
// left out, and so nothing has to be there that this alone calls.

#include "manifest/variants.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::compile {

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

// What else is changed in it.
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
// Of the source, whose text this is, and behind it of the headers that it includes in quotes.
std::vector<cut_file> kernel_code(const manifest::described_kernels& kernels,
                                  const std::filesystem::path& source, std::string_view text,
                                  const adaptation& to);
// As they stand.
std::vector<cut_file> with_headers(const std::filesystem::path& source, std::string_view text);

// Lines that include these headers are empty.
std::string without_includes(std::string_view text, const std::vector<std::string>& headers);

}  // namespace kzoo::compile
