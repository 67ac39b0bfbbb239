#pragma once
// A source's own description: its `// kzoo:` lines, or the manifest beside a bare kernel.

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
  std::string file, text;  // where it is said
  experiment::node_table keys;
  location top;                               // where to say what is missing
  bool is_bare = false;                       // kernels without a plugin, launched as the keys say
  std::optional<tensor_function> function{};  // which launches them instead
};

inline constexpr const char *kTuneKey = "tune", *kFunctionKey = "function";

// The text of a source. `name`: as the user typed it.
std::string read_source(const std::filesystem::path& source, const std::string& name);
// The source, what it includes by "…" from its folder, and so on, as far as they are there.
std::set<std::filesystem::path> source_and_headers(const std::filesystem::path& source);
// Throws input::invalid for a kernel of which nothing says how it is launched, and where several
// functions could be meant.
description describe(const std::filesystem::path& source, const std::string& name,
                     const std::string& text);

// The space that the source is tuned over, if it says one. Throws input::invalid for what is wrong
// in it.
std::optional<results::tuning_space> tuning_space_in(const description& d);
// Throws input::invalid for a parameter that neither the source, with what it includes from its own
// folder, nor the description of its launch mentions.
void require_used(const results::tuning_space& space, const description& d,
                  const std::filesystem::path& source);

// The keys of a launch with the values in the place of the parameters' names.
experiment::node_table with_values(experiment::node_table keys, const results::tuning_point& point);
// The values as options of the compiler: "-DBM=64".
std::vector<std::string> definitions(const results::tuning_point& point);
// The values as macros, after the SDK's headers that the source includes, whose names they would
// replace; "" without values.
std::string preamble(const std::filesystem::path& source, const results::tuning_point& point);

// A Python file that has CUDA C++ in its strings, as PyTorch's load_inline takes it.

// The code in the strings that have a kernel or include a header, in the lines that it has there,
// and its `# kzoo:` lines. What `functions=[…]` names is bound. "": no string has a kernel.
std::string cuda_code_in(std::string_view python);

}  // namespace kzoo::source
