#pragma once
// What an experiment file asks for, as a plain record: problems, kernels, how to time and check
// them.

#include "core/location.hpp"
#include "core/problem.hpp"
#include "core/selector.hpp"
#include "core/tier.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::results {

// One column of figures from elsewhere, shown beside the measured ones and never mixed with them.
struct published_column {
  std::string label;  // "A100 80G"
  // Keyed "plugin@MxNxK" or "plugin:variant@MxNxK"; milliseconds. The file may leave the shape out
  // where it has only one; here it is always there, so that --sizes cannot misplace a figure.
  std::map<std::string, double> ms;
};

struct published {
  std::string source;
  std::vector<published_column> columns;
};

// `kernel` is plugin:variant; `problem` is the shape with everything else that a problem has.
enum class pivot_axis { m, n, k, shape, dtype, problem, plugin, variant, kernel };
inline constexpr std::array kPivotAxes{pivot_axis::m,      pivot_axis::n,       pivot_axis::k,
                                       pivot_axis::shape,  pivot_axis::dtype,   pivot_axis::problem,
                                       pivot_axis::plugin, pivot_axis::variant, pivot_axis::kernel};
std::string_view axis_name(pivot_axis a);  // the word in files

enum class pivot_value { ms, gflops, speedup };  // the last over the baseline
inline constexpr std::array kPivotValues{pivot_value::ms, pivot_value::gflops,
                                         pivot_value::speedup};
std::string_view value_name(pivot_value v);

// A table with one axis down and one across, one table for each combination of the others.
struct pivot {
  pivot_axis rows = pivot_axis::shape;
  pivot_axis columns = pivot_axis::variant;
  pivot_value value = pivot_value::gflops;
};

// What a kernel finds in the device's caches: nothing of its operands, or what its last run left.
enum class cache_mode { cold, hot, both };
inline constexpr std::array kCacheModes{cache_mode::cold, cache_mode::hot, cache_mode::both};
std::string_view mode_name(cache_mode m);

struct timing_options {
  bool enabled = true;
  cache_mode mode = cache_mode::cold;
  int rounds = 10;       // turns that each kernel takes, at least
  int warmup = 3;        // untimed runs at the start of a turn
  int min_samples = 10;  // over all rounds
  double max_relative_half_width =
      0.01;                      // more rounds until the median is known to this, relatively
  double max_seconds = 1.0;      // per cell, all its turns together; at least one sample is taken
  bool end_to_end = false;       // also with allocation and copies
  bool fresh_processes = false;  // each turn in a worker process of its own

  int samples_per_turn() const { return (min_samples + rounds - 1) / rounds; }
};

// What becomes of a time below the roofline floor.
enum class impossible_time { refuse, report };
inline constexpr std::array kImpossibleTimes{impossible_time::refuse, impossible_time::report};
std::string_view impossible_time_name(impossible_time i);  // the word in files

struct verify_options {
  kzoo::tier tier = kzoo::tier::quick;
  double timeout_seconds = 60.0;  // for one step of one cell; a plugin past it counts as hung
  bool show_errors = false;       // from the command line alone
  results::impossible_time impossible_time = impossible_time::refuse;
};

// The command line's word over the file's.
struct overrides {
  std::optional<std::string> device;
  std::vector<std::string> plugins;  // selectors; empty: as the file says
  std::vector<std::string> sizes;    // "512" or "MxNxK"; empty: as the file says
  std::optional<std::string> tier;   // "quick", "full", "paranoid"

  bool operator==(const overrides&) const = default;
};

struct experiment {
  std::filesystem::path file;
  std::string text;      // as read, for the record
  overrides overridden;  // what the command line put in its place, likewise
  std::string title;
  std::string description;
  std::string device = "auto";  // auto, cpu, cuda, cuda:N, cuda:all
  location device_where;
  std::string intended_device;  // part of the name of the device the file was written for
  std::vector<selector> plugins;
  std::optional<selector> baseline;
  std::vector<problem> problems;
  location problems_where;
  timing_options timing;
  verify_options verify;
  results::published published;
  std::optional<pivot> pivot_table;
};

}  // namespace kzoo::results
