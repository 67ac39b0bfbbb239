#pragma once
// Joins the results of shards: those of one experiment, each of some of its problems.

#include "results/document.hpp"

#include <string>
#include <vector>

namespace kzoo::cluster {

// The results of a shard, and what errors call them.
struct shard_results {
  std::string name;
  results::document results;
};

struct merged {
  std::vector<results::document> by_device;  // one, unless several devices are allowed
  // Problems without all their cells: "512x512x512 f32: naive:8x8, smem:16x16".
  std::vector<std::string> missing;
};

// "NVIDIA H200, driver 580.159, CUDA runtime 13.0": results of others have no common table.
std::string device_words(const results::device& d);

// `shards`: at least one; those of an interrupted shard may lack cells. Throws input::invalid for
// shards of another experiment, other plugins' files or another kernel-zoo, for a problem that two
// shards have and, unless `by_device`, for shards that were measured on different devices.
merged merge(std::vector<shard_results> shards, bool by_device);

}  // namespace kzoo::cluster
