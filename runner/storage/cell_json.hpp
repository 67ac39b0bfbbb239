#pragma once
// A cell and an agreement, from JSON; results_json.hpp has the other direction.

#include "results/document.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::storage {

class field;

using published_figures = std::vector<std::pair<std::string, double>>;  // by column, milliseconds

// What a cell has in JSON, and the rest of the document in memory.
struct cell_context {
  kzoo::problem problem;
  published_figures published_ms;
  // Written only: they follow from the others.
  std::optional<double> gflops, share_of_peak;
  std::optional<roofline::floor> floor;
  std::optional<double> speedup;
  std::optional<std::vector<double>> speedup_interval;
};

// Without the index of its problem: that is the caller's to set.
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
