#pragma once
// Reads a cell and an agreement from JSON; results_json.hpp writes them.

#include "results/document.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::storage {

class field;

using published_figures = std::vector<std::pair<std::string, double>>;  // by column, milliseconds

// What JSON keeps in each cell and a document keeps outside its cells.
struct cell_context {
  kzoo::problem problem;
  published_figures published_ms;
  // Follow from the document: written, never read.
  std::optional<double> gflops, share_of_peak;
  std::optional<roofline::floor> floor;
  std::optional<double> speedup;
  std::optional<std::vector<double>> speedup_interval;
};

// The caller sets cell.problem and agreement.problem, the index of the problem.
struct stored_cell {
  results::cell cell;
  cell_context context;
};
stored_cell read_cell(const field& f);

struct stored_agreement {
  results::agreement agreement;
  std::string problem;  // its name
};
stored_agreement read_agreement(const field& f);

}  // namespace kzoo::storage
