#pragma once
// What a run on several devices and its parts, a process for each device, say to each other:
// objects with a key "op".
//
//   to a part      task     document: the head of the results; device, show_errors; index of parts
//                  known    line: a cell of the next problem that an interrupted run had finished
//                  problem  index: run this one
//   from a part    next     the one before is finished, if there was one
//                  starts   kernel
//                  times    kernel, round
//                  cell     line, as the journal has it
//
// A part has one problem at a time; what it says is about that one.

#include "results/document.hpp"
#include "storage/field.hpp"
#include "storage/results_json.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::shards {

inline constexpr std::string_view kShardCommand = "__part";

// A cell with its agreements, as the journal has them.
struct finished_cell {
  results::cell cell;
  std::vector<results::agreement> agreements;
};

inline finished_cell read_line(const nlohmann::json& line, std::size_t problem) {
  const nlohmann::ordered_json ordered = line;
  const std::string place = "the message of a part";
  const storage::field f(ordered, place);
  finished_cell read{storage::read_cell(f.at("cell")), {}};
  read.cell.problem = problem;
  for (const storage::field& a : f.at("agreement").elements()) {
    read.agreements.push_back(storage::read_agreement(a));
    read.agreements.back().problem = problem;
  }
  return read;
}

}  // namespace kzoo::shards
