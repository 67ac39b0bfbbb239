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

#include "storage/journal.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace kzoo::shards {

inline constexpr std::string_view kShardCommand = "__shard";

// Adds the cell of a line to the finished ones of its problem.
inline void add_line(std::vector<results::cell>& finished, const nlohmann::json& line,
                     std::size_t problem) {
  finished.push_back(storage::read_line(line, problem, finished, "a message from a shard"));
}

}  // namespace kzoo::shards
