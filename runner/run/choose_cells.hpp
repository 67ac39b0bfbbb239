#pragma once
// Selects cells of an experiment, for profile and xray.

#include "experiment/names.hpp"
#include "results/experiment.hpp"
#include "run/plan.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kzoo::run {

// The name of a cell: plugin:variant@MxNxK. The variant may be left out if the plugin has only one;
// without a size, the experiment's first problem is meant.
struct cell_name {
  std::string text;
  std::string kernel;                       // plugin, or plugin:variant
  std::optional<experiment::extents> size;  // after the @
};

// Throws input::invalid for a text that is not the name of a cell.
std::vector<cell_name> parse_cells(const std::vector<std::string>& names);

struct chosen_cell {
  const loaded_plugin* plugin;
  const selected_variant* variant;
  const problem* at;
};

// The named cells of the plan, in the order of the names; without names all cells of its first
// problem, at most 16. Throws input::invalid, with the nearest name, for a cell that does
// not exist.
std::vector<chosen_cell> choose(const plan& plan, const std::vector<cell_name>& names);

}  // namespace kzoo::run
