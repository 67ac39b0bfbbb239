#pragma once
// Splits an experiment's problems into shards of about equal duration. All kernels of a problem
// stay together, since they are compared on one device.

#include "core/problem.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace kzoo::cluster {

// The relative duration of a problem: its operations and a constant.
double estimated_work(const problem& p);

// The numbers of each shard's problems, ascending. The longest remaining problem goes to the shard
// with the least work. Returns no more shards than problems.
std::vector<std::vector<std::size_t>> split(std::span<const problem> problems, std::size_t shards);

// For --problems: "0-3,7".
std::string numbers_text(std::span<const std::size_t> ascending);

}  // namespace kzoo::cluster
