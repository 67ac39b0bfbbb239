#pragma once
// Cells as they are read one by one, until they go into a document.

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
  // Problems may be in any order, each with its `number` in the experiment; without numbers they
  // are in order. The cells of one problem are in the order of the experiment. Throws
  // input::invalid for a cell that is there already.
  void add(const field& cell, std::optional<std::size_t> number);

  // Moves everything into `d`, which has all but its problems and cells.
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
