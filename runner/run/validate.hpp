#pragma once
// Runs all checks of a tier on every variant of a plugin, in each of its element types, with an
// example of each kind of problem that it takes: plain, with an epilogue, with scales of blocks,
// with groups.

#include "core/problem.hpp"
#include "core/tier.hpp"
#include "results/validation.hpp"
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
  std::optional<problem> beside;  // what the problem has beside size, type and layout; empty: all
                                  // kinds that the variant takes
  run::find_access_analysis find_access_analysis{};  // of wrong kernels; may be empty
  client_factory make_client;  // for more workers, where variants are checked side by side
  unsigned side_by_side = 1;   // so many, on a GPU: checks time nothing
};

// Called as each step happens, in the calling thread and in the variants' order: what is checked
// beside another variant is told when the other is.
struct validation_observer {
  std::function<void(const results::validated_variant&)> starts = [](const auto&) {};
  std::function<void(const results::validated_variant&)> takes = [](const auto&) {};  // a kind
  std::function<void(const results::finding&)> found = [](const auto&) {};
};

results::validation validate(std::vector<loaded_plugin>& plugins, const results::device& device,
                             const validation_options& options, const validation_observer& watch);

}  // namespace kzoo::run
