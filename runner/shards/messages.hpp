#pragma once
// The messages between a run on several devices and its shards, one process for each device:
// objects with a key "op".
//
//   to a shard     task     document: the head of the results; device, show_errors; index, parts:
//                           which of how many shards this is
//                  known    line: a cell of the next problem that an interrupted run had finished
//                  problem  index: run this one
//   from a shard   next     ready for a problem; the previous one, if any, is finished
//                  starts   kernel
//                  times    kernel, round
//                  cell     line: a finished cell, in the format of the journal
//
// A shard runs one problem at a time; its messages are about that one.

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

// A cell with its agreements, as in a line of the journal.
struct finished_cell {
  results::cell cell;
  std::vector<results::agreement> agreements;
};

inline finished_cell read_line(const nlohmann::json& line, std::size_t problem) {
  const nlohmann::ordered_json ordered = line;
  const std::string place = "a message from a shard";
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
