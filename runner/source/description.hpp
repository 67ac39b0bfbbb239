#pragma once
// An author's description of a source: its `// kzoo:` lines, or the manifest next to a bare kernel.

#include "results/plugin.hpp"
#include "source/annotations.hpp"
#include "source/tensor_functions.hpp"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::source {

struct description {
  std::string file, text;  // that hold the keys: the source or the manifest
  experiment::node_table keys;
  location top;                               // for errors about missing keys
  bool is_bare = false;                       // kernels without a plugin; the keys say the launch
  std::optional<tensor_function> function{};  // the function that launches the kernels instead
};

inline constexpr const char *kTuneKey = "tune", *kFunctionKey = "function";

// The text of a source. `name`: the path as the user typed it, for errors.
std::string read_source(const std::filesystem::path& source, const std::string& name);
// The source and all existing files that it includes by "…", directly or not.
std::set<std::filesystem::path> source_and_headers(const std::filesystem::path& source);
// Throws input::invalid if nothing says how a kernel is launched, or if several functions could be
// meant.
description describe(const std::filesystem::path& source, const std::string& name,
                     const std::string& text);

// The source's tuning space, if it has one. Throws input::invalid for errors in it.
std::optional<results::tuning_space> tuning_space_in(const description& d);
// Throws input::invalid for a parameter that neither source, nor headers, nor launch mention.
void require_used(const results::tuning_space& space, const description& d,
                  const std::filesystem::path& source);

// The keys of a launch; values replace the names of parameters.
experiment::node_table with_values(experiment::node_table keys, const results::tuning_point& point);
// The values as options of the compiler: "-DBM=64".
std::vector<std::string> definitions(const results::tuning_point& point);
// The values as macros. Empty without values. The SDK's headers that the source includes come
// first: the macros would replace names in them.
std::string preamble(const std::filesystem::path& source, const results::tuning_point& point);

// The CUDA C++ in a Python file's strings, as for PyTorch's load_inline: the strings that have a
// kernel or include a header, in their lines of the file, the `# kzoo:` lines, and a binding of the
// functions in `functions=[…]`. Empty if no string has a kernel.
std::string cuda_code_in(std::string_view python);

}  // namespace kzoo::source
