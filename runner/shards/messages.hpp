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

#include "storage/journal.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string_view>

namespace kzoo::shards {

inline constexpr std::string_view kShardCommand = "__part";

inline storage::finished_cell read_line(const nlohmann::json& line, std::size_t problem) {
  return storage::read_line(line, problem, "the message of a part");
}

}  // namespace kzoo::shards
