#pragma once
// The results of one run of an experiment. Reports are written from this and nothing else.

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

// The options of the command line that are not overrides of the experiment.
struct invocation {
  std::vector<std::string> plugin_folders;  // --plugin-dir, absolute
  bool in_process = false;
};

struct document {
  results::experiment experiment;
  results::device device;                // the first, if it ran on several of one model
  std::vector<std::string> devices;      // the ids of all
  std::optional<roofline::peaks> peaks;  // of the device, if they were measured
  std::vector<plugin_record> plugins;
  std::vector<cell> cells;         // by problem, then in the order of the plugin list
  std::vector<std::string> notes;  // caveats that a reader of the figures must know
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
  // For a timed cell, if the device's peaks are known and it is not simulated: its speed over the
  // peak in its declared precision, that peak if there is one, and its roofline floor.
  std::optional<double> share_of_peak(const cell& c) const;
  std::optional<double> peak_of(const cell& c) const;
  std::optional<roofline::floor> floor_of(const cell& c) const;
  // Of one of its times, cold or hot.
  std::optional<roofline::floor> floor_of(const cell& c, const timing::summary& time) const;
  // The published time that belongs to the cell, for one column of experiment.published.
  std::optional<double> published_ms(const cell& c, std::size_t column) const;
  // The cell that this one is compared with: of the experiment's baseline, or of the kernel that a
  // selector names. Same problem, same kind of clock, both timed; null: there is none.
  const cell* baseline_of(const cell& c) const;
  const cell* baseline_of(const cell& c, const std::string& selector) const;
  // The declared precision that readers expect of the cell: the baseline's on its problem, or else
  // what a kernel for such matrices declares if it says nothing.
  kzoo_precision expected_precision(const cell& c) const;
  // The time of `a` over that of `b`, both of this run. Its interval includes what differs between
  // their processes, if that was measured and `b` is not `a` itself.
  timing::ratio ratio_of(const cell& a, const cell& b) const;
  // How much times of this kind of clock differ between processes, which the rounds do not show.
  timing::process_spread spread_of(timing::clock clock) const;
  // Sets cell::speedup where it is missing; `of_one_problem` are all cells of a problem.
  void compare_with_baseline(std::span<cell> of_one_problem) const;
};

// Whether the cell is of a point of a tuned source that does not compile.
bool does_not_compile(const document& d, const cell& c);
// Whether no kernel failed, but none ran either: all declined.
bool nothing_ran(const document& d);
// The plugins that were compiled from a source and declined every problem: the author learns
// nothing of them, though other kernels may pass.
std::vector<std::string> unjudged_sources(const document& d);
// 0: some cell passed, and all others did, or are unsupported, or have no build for this device;
// and there are no unjudged sources. 1 otherwise. In tuning, points that do not compile are left
// out.
int exit_code(const document& d);

}  // namespace kzoo::results
