#pragma once
// Which cells of an experiment are profiled.

#include "experiment/names.hpp"
#include "results/experiment.hpp"
#include "run/plan.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::profile {

// A cell by its name: plugin:variant@MxNxK. A plugin that has one variant needs no variant, and
// without a size the experiment's first problem is meant.
struct cell_name {
  std::string text;
  std::string kernel;                       // plugin, or plugin:variant
  std::optional<experiment::extents> size;  // after the @
};

// Throws experiment::invalid for what is no such name.
std::vector<cell_name> parse_cells(const std::vector<std::string>& names);

struct cell {
  const run::loaded_plugin* plugin;
  const run::selected_variant* variant;
  const problem* at;
};

inline constexpr std::size_t kMostCells = 16;

// The cells of the plan that are named, in that order; without names those of its first problem, at
// most kMostCells. Throws experiment::invalid, with the nearest there is, for what is not there.
std::vector<cell> choose(const run::plan& plan, const std::vector<cell_name>& names);

}  // namespace kzoo::profile
