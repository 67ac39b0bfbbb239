#pragma once
// Reads a cell from JSON; results_json.hpp writes it.

#include "results/document.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
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

// Cells read one by one, until they go into a document.

class collected_cells {
 public:
  // Takes problems in any order with their `number` in the experiment, or in order without numbers.
  // Cells of a problem come in the experiment's order. Throws input::invalid for a duplicate.
  void add(const field& cell, std::optional<std::size_t> number);

  // Moves everything into `d`, which lacks only its problems and cells.
  void move_into(results::document& d);

 private:
  struct known_problem {
    std::size_t number;
    std::vector<std::uint32_t> cells;  // in cells_
  };
  std::vector<const kernel_id*> kernels_of(const known_problem& p) const;
  known_problem& entry_of(const problem& p, std::optional<std::size_t> number, const field& cell);
  void number_problems(results::document& d);
  void add_published(const published_figures& figures, const std::string& cell);
  void move_published(results::document& d);

  std::vector<results::cell> cells_;
  std::map<problem, known_problem> problems_;
  std::map<std::size_t, const problem*> by_number_;
  std::vector<results::published_column> published_;
};

}  // namespace kzoo::storage
