#pragma once
// Cells as they are read one by one, until they go into a document.

#include "results/document.hpp"
#include "storage/cell_json.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
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
  // Two results of schema 1, compared.
  void add_pair(const field& f);

  // Moves everything into `d`, which has all but its problems and cells. `schema`: that of the
  // file, by number; the first has no figures that can be relied on. Errors refer to it as `place`.
  void move_into(results::document& d, int schema, const std::string& place);

 private:
  struct known_problem {
    std::size_t number;
    std::vector<std::uint32_t> cells;  // in cells_
  };
  struct pair {
    const std::string *problem, *a, *b;  // in names_
    reference::comparison difference;
  };
  std::vector<const kernel_id*> kernels_of(const known_problem& p) const;
  known_problem& entry_of(const problem& p, std::optional<std::size_t> number, const field& cell);
  const std::string* stored(const std::string& name) { return &*names_.insert(name).first; }
  void number_problems(results::document& d);
  void add_published(const published_figures& figures, const std::string& cell);
  void move_published(results::document& d);
  void form_classes(results::document& d, const std::string& place) const;

  std::vector<results::cell> cells_;
  std::map<problem, known_problem> problems_;
  std::map<std::size_t, const problem*> by_number_;
  std::vector<results::published_column> published_;
  std::set<std::string> names_;
  std::vector<pair> pairs_;
};

}  // namespace kzoo::storage
