#pragma once
// The content of an experiment file: problems, kernels, how to time and check them.

#include "core/kernel_name.hpp"
#include "core/location.hpp"
#include "core/problem.hpp"
#include "core/verdict.hpp"
#include "os/enums.hpp"
#include "results/plugin.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::results {

// A column of published figures, shown next to measured figures and never mixed with them.
struct published_column {
  std::string label;  // "A100 80G"
  // Milliseconds by "plugin@MxNxK" or "plugin:variant@MxNxK". The shape is optional in a file with
  // one shape and always present here, so that --sizes cannot misplace a figure.
  std::map<std::string, double> ms;
};

struct published {
  std::string source;
  std::vector<published_column> columns;
};

// `kernel` is plugin:variant; `problem` is the shape with all else that a problem has.
KZOO_ENUM(pivot_axis, m, n, k, shape, dtype, layout, batch, problem, plugin, variant, kernel);

// speedup: over the baseline; error: the largest and the Frobenius error, each in its own table.
KZOO_ENUM(pivot_value, ms, gflops, speedup, error);

// A table with one axis down and one across, one table for each combination of the other axes.
struct pivot {
  pivot_axis rows = pivot_axis::shape;
  pivot_axis columns = pivot_axis::variant;
  pivot_value value = pivot_value::gflops;
};

// Operands of a timed kernel in the caches. cold: none; hot: as its previous run left them.
KZOO_ENUM(cache_mode, cold, hot, both);

// How long a timed kernel keeps the device busy. burst: milliseconds in each round; sustained:
// until clock and power have settled, for large sizes at the power limit; both.
KZOO_ENUM(power_mode, burst, sustained, both);

struct timing_options {
  bool enabled = true;
  cache_mode mode = cache_mode::cold;
  power_mode power = power_mode::burst;
  int rounds = 10;       // turns of each kernel, at least
  int warmup = 3;        // at most this many untimed runs in a turn
  int min_samples = 10;  // per cell, over all rounds
  // More rounds follow until timing::summary::relative_half_width is no larger than this.
  double max_relative_half_width = 0.01;
  double max_seconds = 1.0;            // per cell, for all its turns; takes at least one sample
  bool end_to_end = false;             // also time each cell with allocation and copies
  bool fresh_processes = false;        // run each turn in a worker process of its own
  bool require_locked_clocks = false;  // refuse to run unless a setting holds the GPU's clock
  // A kernel slower than the fastest beyond doubt takes no further turns.
  bool drop_slower = false;
  // For a whole run: no round begins later. Only set by the command line.
  std::optional<double> budget_seconds{};

  int samples_per_turn() const { return (min_samples + rounds - 1) / rounds; }
};

// How to treat a time below the roofline floor.
KZOO_ENUM(impossible_time, refuse, report);

struct verify_options {
  kzoo::tier tier = kzoo::tier::quick;
  double timeout_seconds = 60.0;  // for one step of a cell; a slower plugin counts as hung
  bool show_errors = false;       // only set by the command line
  // Rejects kernels that declare a lower precision than the problem takes. Set by commands.
  bool demands_precision = false;
  bool device_code_only = false;  // for files, except the baseline; set by commands
  results::impossible_time impossible_time = impossible_time::refuse;
};

// Command-line settings that replace the file's.
struct overrides {
  std::optional<std::string> device;
  std::vector<std::string> plugins;    // selectors; empty: the file's
  std::vector<std::string> sizes;      // "512" or "MxNxK"; empty: the file's
  std::optional<std::string> tier;     // "quick", "full", "paranoid"
  std::vector<std::string> layouts{};  // "nn", "nt", "tn", "tt"; empty: the file's
  std::vector<std::string> batches{};  // "8"; empty: the file's
  std::vector<std::string> allow{};    // "tf32": in addition to the file's
  // More compiler options, for plugins named by their source.
  std::vector<std::string> build_args{};
  // Whether to look for the fastest kernel (timing.drop_slower), and for how long.
  bool tune = false;
  std::optional<double> budget_seconds{};
  std::optional<std::int64_t> sample{};  // the most configurations of a space to compile
  std::optional<std::string> baseline{};
  // Selected problems by number among all, from 0: "3" or "12-15". Empty: all.
  std::vector<std::string> problems{};

  bool operator==(const overrides&) const = default;
};

struct experiment {
  std::filesystem::path file;
  std::string text;      // the file's content, kept for the record
  overrides overridden;  // the command line's replacements, for the record
  std::string title;
  std::string description;
  std::string device = "auto";  // auto, cpu, cuda, cuda:N, cuda:all
  location device_where;
  std::string intended_device;  // part of the intended device's name
  std::vector<selector> plugins;
  std::optional<selector> baseline;
  std::vector<problem> problems;
  location problems_where;
  timing_options timing;
  verify_options verify;
  results::published published;
  std::optional<pivot> pivot_table;
  // Replaces the source's own tuning space. Key: a plugin named by its source.
  std::map<std::string, tuning_space> spaces{};

  bool is_baseline(std::string_view plugin, std::string_view variant) const {
    return baseline && matches(baseline->text, plugin, variant);
  }
};

}  // namespace kzoo::results
