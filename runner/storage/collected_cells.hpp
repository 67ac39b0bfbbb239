#pragma once
// Cells read one by one, until they go into a document.

#include "results/document.hpp"
#include "storage/cell_json.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::storage {

class field;

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
