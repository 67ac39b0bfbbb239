#pragma once
// Runs all checks of a tier on every variant and element type of a plugin. Uses an example of each
// kind of problem that it supports: plain, epilogue, block scales, groups.

#include "core/problem.hpp"
#include "core/verdict.hpp"
#include "results/finding.hpp"
#include "run/plan.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace kzoo::run {

struct validation_options {
  kzoo::tier tier = kzoo::tier::full;
  bool show_errors = false;
  std::optional<std::array<std::int64_t, 3>> size;  // of the problem: m, n, k
  std::optional<element_types> dtype;               // empty: all
  std::optional<kzoo::layout> layout;               // of the problem
  std::optional<problem> beside;  // what else the problem has; empty: all supported kinds
  run::find_access_analysis find_access_analysis{};  // for wrong kernels; may be empty
  client_factory make_client;                        // for more workers, if side_by_side > 1
  unsigned side_by_side = 1;  // variants checked at once on a GPU, since checks time nothing
};

// Called in the calling thread, in the variants' order, even if variants are checked side by side.
struct validation_observer {
  std::function<void(const results::validated_variant&)> starts = [](const auto&) {};
  std::function<void(const results::validated_variant&)> takes = [](const auto&) {};  // its kind
  std::function<void(const results::finding&)> found = [](const auto&) {};
};

results::validation validate(std::vector<loaded_plugin>& plugins, const results::device& device,
                             const validation_options& options, const validation_observer& watch);

}  // namespace kzoo::run
