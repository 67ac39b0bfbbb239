#pragma once
// Selects cells of an experiment, for profile and xray.

#include "core/problem.hpp"
#include "experiment/names.hpp"
#include "run/plan.hpp"

#include <optional>
#include <string>
#include <vector>

namespace kzoo::run {

// A cell's name: plugin:variant@MxNxK. The variant is optional if the plugin has only one. Without
// a size, the name means the experiment's first problem.
struct cell_name {
  std::string text;
  std::string kernel;                       // plugin, or plugin:variant
  std::optional<experiment::extents> size;  // after the @
};

// Throws input::invalid for a malformed name.
std::vector<cell_name> parse_cells(const std::vector<std::string>& names);

struct chosen_cell {
  const loaded_plugin* plugin;
  const selected_variant* variant;
  const problem* at;
};

// Returns the named cells of the plan, in the order of the names. Without names: up to 16 cells of
// its first problem. Throws input::invalid, with the nearest name, for a cell that does not exist.
std::vector<chosen_cell> choose(const plan& plan, const std::vector<cell_name>& names);

}  // namespace kzoo::run
