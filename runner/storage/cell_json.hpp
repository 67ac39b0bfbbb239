#pragma once
// Reads a cell from JSON; results_json.hpp writes it.

#include "results/document.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::storage {

class field;

using published_figures = std::vector<std::pair<std::string, double>>;  // by column, milliseconds

struct named_difference {
  std::string kernel;
  reference::comparison by;
};

// Data that JSON keeps in each cell, and a document outside its cells or by position.
struct cell_context {
  kzoo::problem problem;
  published_figures published_ms;
  std::optional<std::string> same_as;
  std::vector<named_difference> differs_from;
  // Derived from the document: written, never read.
  std::optional<double> gflops, share_of_peak;
  std::optional<roofline::floor> floor;
};

// The caller sets cell.problem (an index), and the positions for same_as and differs_from.
struct stored_cell {
  results::cell cell;
  cell_context context;
};
stored_cell read_cell(const field& f);
nlohmann::ordered_json cell_schema();

// Sets the positions in c.cell. `earlier`: the kernels of the cells before it, by position.
void place_among(stored_cell& c, const std::vector<const kernel_id*>& earlier, const field& f);

}  // namespace kzoo::storage
