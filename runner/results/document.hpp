#pragma once
// The results of one run of an experiment: the only source of reports.

#include "core/problem.hpp"
#include "results/cell.hpp"
#include "results/device.hpp"
#include "results/experiment.hpp"
#include "results/plugin.hpp"
#include "roofline/floor.hpp"
#include "roofline/peaks.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kzoo::results {

struct invocation {
  std::vector<std::string> plugin_folders;  // --plugin-dir, absolute
  bool in_process = false;
};

struct document {
  results::experiment experiment;
  results::device device;                // the first of several devices, which share a model
  std::vector<std::string> devices;      // ids of all devices
  std::optional<roofline::peaks> peaks;  // of the device, if they were measured
  std::vector<plugin_record> plugins;
  std::vector<cell> cells;         // by problem, then in the order of the plugin list
  std::vector<std::string> notes;  // caveats for readers of the figures
  std::size_t planned = 0;         // cells of the whole run; an interrupted run has fewer
  std::string version;             // of the runner that ran it
  std::string host;
  invocation invoked;
  std::string started;      // UTC, ISO 8601
  double wall_seconds = 0;  // until the last cell was finished

  bool complete() const { return cells.size() >= planned; }
  const kzoo::problem& problem_of(const cell& c) const { return experiment.problems[c.problem]; }
  std::span<const cell> cells_of(std::size_t problem) const;
  // GFLOP/s of a cell that was timed.
  std::optional<double> gflops(const cell& c) const;
  // For a timed cell that is not simulated, if the device's peaks are known: its share of the peak
  // in its declared precision, the peak, and its roofline floor.
  std::optional<double> share_of_peak(const cell& c) const;
  std::optional<double> peak_of(const cell& c) const;
  std::optional<roofline::floor> floor_of(const cell& c) const;
  std::optional<roofline::floor> floor_of(const cell& c, const timing::summary& time) const;
  // The published time of the cell in a column of experiment.published.
  std::optional<double> published_ms(const cell& c, std::size_t column) const;
  // The baseline's or `selector`'s cell with the same problem and clock; null unless both are
  // timed.
  const cell* baseline_of(const cell& c) const;
  const cell* baseline_of(const cell& c, const std::string& selector) const;
  // The baseline's precision on this problem, or else the default of the element types.
  kzoo_precision expected_precision(const cell& c) const;
  // The time of `a` over the time of `b`, in this run. Its interval includes the variation between
  // processes, if that was measured and the kernels differ.
  timing::ratio ratio_of(const cell& a, const cell& b) const;
  // The variation between processes for this kind of clock, which rounds do not show.
  timing::process_spread spread_of(timing::clock clock) const;
  // Sets cell::speedup where it is missing; `of_one_problem`: all cells of a problem.
  void compare_with_baseline(std::span<cell> of_one_problem) const;
};

// Whether the cell's configuration of a tuned source does not compile.
bool does_not_compile(const document& d, const cell& c);
// Whether no kernel failed and none ran: all were rejected.
bool nothing_ran(const document& d);
// Plugins from sources that rejected every problem: other kernels' passes would hide it.
std::vector<std::string> unjudged_sources(const document& d);
// 0 if a cell passed, the others passed, are unsupported or have no build for this device, and
// there are no unjudged sources; else 1. Tuning ignores configurations that do not compile.
int exit_code(const document& d);

}  // namespace kzoo::results
