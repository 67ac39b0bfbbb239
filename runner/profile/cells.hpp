#pragma once
// Selects the cells of an experiment that are profiled.

#include "experiment/names.hpp"
#include "results/experiment.hpp"
#include "run/plan.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::profile {

// The name of a cell: plugin:variant@MxNxK. The variant may be left out if the plugin has only one;
// without a size, the experiment's first problem is meant.
struct cell_name {
  std::string text;
  std::string kernel;                       // plugin, or plugin:variant
  std::optional<experiment::extents> size;  // after the @
};

// Throws input::invalid for a text that is not the name of a cell.
std::vector<cell_name> parse_cells(const std::vector<std::string>& names);

struct cell {
  const run::loaded_plugin* plugin;
  const run::selected_variant* variant;
  const problem* at;
};

inline constexpr std::size_t kMaxCells = 16;

// The named cells of the plan, in the order of the names; without names all cells of its first
// problem, at most kMaxCells. Throws input::invalid, with the nearest name, for a cell that does
// not exist.
std::vector<cell> choose(const run::plan& plan, const std::vector<cell_name>& names);

}  // namespace kzoo::profile
