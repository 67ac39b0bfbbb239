#include "storage/collected_cells.hpp"

#include "storage/field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace kzoo::storage {
namespace {

results::published_column& column_of(std::vector<results::published_column>& columns,
                                     const std::string& label) {
  const auto found = std::ranges::find(columns, label, &results::published_column::label);
  return found != columns.end() ? *found
                                : columns.emplace_back(results::published_column{label, {}});
}

}  // namespace

collected_cells::known_problem& collected_cells::entry_of(const problem& p,
                                                          std::optional<std::size_t> number,
                                                          const field& cell) {
  const auto [found, is_new] =
      problems_.try_emplace(p, known_problem{number.value_or(problems_.size()), {}});
  known_problem& entry = found->second;
  const auto [named, first] = by_number_.try_emplace(entry.number, &found->first);
  if (number.value_or(entry.number) != entry.number || named->second != &found->first) {
    cell.at("problem").refuse(fmt::format("{} is problem {}, and so is {}", problem_name(p),
                                          number.value_or(entry.number),
                                          problem_name(*named->second)));
  }
  return entry;
}

std::vector<const kernel_id*> collected_cells::kernels_of(const known_problem& p) const {
  std::vector<const kernel_id*> kernels;
  for (const std::uint32_t i : p.cells) kernels.push_back(&cells_[i].kernel);
  return kernels;
}

void collected_cells::add(const field& cell, std::optional<std::size_t> number) {
  stored_cell read = read_cell(cell);
  known_problem& entry = entry_of(read.context.problem, number, cell);
  const std::vector<const kernel_id*> earlier = kernels_of(entry);
  const auto is_same = [&](const kernel_id* k) { return *k == read.cell.kernel; };
  if (std::ranges::any_of(earlier, is_same)) {
    cell.refuse(fmt::format("{} on {} is there twice", read.cell.kernel.name(),
                            problem_name(read.context.problem)));
  }
  place_among(read, earlier, cell);
  read.cell.problem = entry.number;
  add_published(read.context.published_ms,
                read.cell.kernel.name() + "@" + shape_name(read.context.problem));
  entry.cells.push_back(static_cast<std::uint32_t>(cells_.size()));
  cells_.push_back(std::move(read.cell));
}

// JSON keeps the published figures in each cell.
void collected_cells::add_published(const published_figures& figures, const std::string& cell) {
  for (const auto& [label, ms] : figures) column_of(published_, label).ms[cell] = ms;
}

void collected_cells::move_published(results::document& d) {
  for (results::published_column& column : published_)
    column_of(d.experiment.published.columns, column.label).ms.merge(column.ms);
}

// Replaces problem numbers of the experiment by indices of the problems that have cells.
void collected_cells::number_problems(results::document& d) {
  if (!std::ranges::is_sorted(cells_, {}, &results::cell::problem))
    std::ranges::stable_sort(cells_, {}, &results::cell::problem);
  for (const auto& [number, problem] : by_number_) d.experiment.problems.push_back(*problem);
  std::size_t index = 0, number = cells_.empty() ? 0 : cells_.front().problem;
  for (results::cell& c : cells_) {
    if (c.problem != std::exchange(number, c.problem)) ++index;
    c.problem = index;
  }
}

void collected_cells::move_into(results::document& d) {
  number_problems(d);
  move_published(d);
  d.cells = std::exchange(cells_, {});
  for (auto begin = d.cells.begin(); begin != d.cells.end();) {
    const auto end = std::ranges::find_if(
        begin, d.cells.end(), [&](const results::cell& c) { return c.problem != begin->problem; });
    d.compare_with_baseline({begin, end});
    begin = end;
  }
}

}  // namespace kzoo::storage
