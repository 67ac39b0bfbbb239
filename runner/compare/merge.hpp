#pragma once
// Joins the results of an experiment's shards: runs of some of its problems, on several machines.

#include "results/document.hpp"

#include <string>
#include <vector>

namespace kzoo::compare {

struct shard_results {
  std::string name;
  results::document results;
};

struct merged {
  std::vector<results::document> by_device;  // a single document, unless several devices are
                                             // allowed
  // Problems without all their cells: "512x512x512 f32: naive:8x8, smem:16x16".
  std::vector<std::string> missing;
};

// "NVIDIA H200, driver 580.159, CUDA runtime 13.0": results must agree in this to share a table.
std::string device_words(const results::device& d);

// `shards`: at least one; interrupted shards may lack cells. Throws input::invalid for shards with
// different experiments, plugin files or kernel-zoo versions, for a problem in two shards and,
// unless `by_device`, for different devices.
merged merge(std::vector<shard_results> shards, bool by_device);

}  // namespace kzoo::compare
