#pragma once

#include "core/kernel_id.hpp"
#include "core/problem.hpp"
#include "core/verdict.hpp"
#include "devices/devices.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::profile {

// A kernel launch of the cell.
struct launch {
  std::string kernel;  // as ncu writes it: with template arguments and parameters
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::map<std::string, double> metrics;  // by ncu's names; times in nanoseconds

  std::optional<double> value(const std::string& metric) const {
    const auto found = metrics.find(metric);
    return found == metrics.end() ? std::nullopt : std::optional(found->second);
  }
};

struct counters {
  std::vector<launch> launches;
  std::vector<std::string> missing;  // metrics unknown to this ncu, or absent on this GPU
  std::string report;                // the report file, if ncu says that it wrote one
  std::string printed;               // ncu's output, if it is no table of counters
};

struct profiled {
  kernel_id kernel;
  kzoo::problem problem;
  std::optional<counters> found;  // empty if profiling failed: see reason
  kzoo::verdict verdict = verdict::pass;
  std::string reason;
};

struct document {
  std::string experiment;  // its file
  results::device device;
  std::string ncu_version;
  std::vector<profiled> cells;
};

}  // namespace kzoo::profile
