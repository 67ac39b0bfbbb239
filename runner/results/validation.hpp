#pragma once
// The results of all checks on plugins: `runner validate`.

#include "core/problem.hpp"
#include "core/tier.hpp"
#include "results/device.hpp"
#include "results/finding.hpp"
#include "results/plugin.hpp"

#include <string>
#include <vector>

namespace kzoo::results {

// A variant with one of its element types, and a kind of problem.
struct validated_variant {
  std::string kernel;  // plugin:variant
  element_types dtype;
  kzoo_precision declared{};
  std::string problem{};  // the checked problem; "": no tried problem is supported
  std::string kind{};     // "5 groups of rows"; "" for a plain GEMM
  std::vector<results::finding> findings{};
};

struct validation {
  results::device device;
  kzoo::tier tier = kzoo::tier::full;
  std::vector<plugin_record> plugins;
  std::vector<validated_variant> variants;
  double wall_seconds = 0;
};

// No check of any variant could be made.
bool nothing_ran(const validation& v);

// 0: a variant was checked, no check failed, and every existing library could be used; else 1.
int exit_code(const validation& v);

}  // namespace kzoo::results
