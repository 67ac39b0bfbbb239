#pragma once
// Splits the problems of an experiment into shards that take about as long as each other. All
// kernels of a problem stay together, since they are compared on one device.

#include "core/problem.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace kzoo::cluster {

// How long a problem takes compared with others: its operations, and what each problem takes
// whatever its size.
double estimated_work(const problem& p);

// The numbers of each shard's problems, in ascending order: the longest problem goes first to the
// shard that has the least to do. No more shards than problems.
std::vector<std::vector<std::size_t>> split(std::span<const problem> problems, std::size_t shards);

// As --problems takes them: "0-3,7".
std::string numbers_text(std::span<const std::size_t> ascending);

}  // namespace kzoo::cluster
