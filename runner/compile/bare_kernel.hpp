#pragma once
// A kernel that is no plugin, with a description of its launch: a manifest NAME.toml beside
// NAME.cu, or the same keys in `// kzoo:` lines.

#include "experiment/reader.hpp"

#include <string>
#include <vector>

namespace kzoo::compile {

// An expression of the problem's sizes, or another word, with its place.
struct placed_text {
  std::string text;
  location where;
};

struct bare_kernel {
  placed_text entry;                     // a C++ expression: sgemm, sgemm<64, 64>, ns::sgemm<T>
  std::vector<placed_text> grid, block;  // one to three
  placed_text shared{"0", {}};           // bytes
  // A, B, C, alpha, beta, or an expression.
  std::vector<placed_text> arguments;
  std::vector<std::string> types{"f32"};
  std::vector<std::string> layouts{"nn"};
  std::vector<int> granularity{1, 1, 1};  // of M, N, K
  int row_bytes = 1;
  unsigned compute_capability = 0;
  bool reads_c = false;  // even where beta is 0
  bool nondeterministic = false;
};

// Reads the keys of the manifest, and reports what is wrong in them.
bare_kernel read_bare_kernel(experiment::table_reader& keys, const location& file,
                             input::diagnostics& report);

// The source of a plugin that launches the kernel, which is in `source`.
std::string plugin_text(const bare_kernel& k, const std::string& name, const std::string& source);

}  // namespace kzoo::compile
