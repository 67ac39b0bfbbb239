#pragma once
// The results of one run of an experiment: the only source of reports.

#include "core/kernel_name.hpp"
#include "core/problem.hpp"
#include "core/verdict.hpp"
#include "reference/judge.hpp"
#include "results/experiment.hpp"
#include "results/finding.hpp"
#include "results/plugin.hpp"
#include "roofline/roofline.hpp"
#include "timing/summary.hpp"

#include <kzoo/abi.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kzoo::results {

// The distance of a result from an earlier result of its problem.
struct difference {
  std::size_t from = 0;  // position of the earlier result's cell within the problem
  reference::comparison by;
};

// The times of a kernel that runs without pauses until clock and power have settled.
struct sustained {
  timing::summary time;       // a sample for each turn: the mean of its runs, once settled
  double settle_seconds = 0;  // until then, in the longest turn
  bool settled = true;        // in each turn; else the time limit came first
  // Mean power of the device while the samples were taken: `watts` by its energy counter,
  // `reported_watts` by the driver, which averages it. Absent if the driver has none.
  std::optional<double> watts, reported_watts;
  double counter_seconds = 0;  // update interval of the counter
  std::string no_energy;       // why there are no watts

  // Joules for one GEMM.
  std::optional<double> joules() const {
    return watts ? std::optional(*watts * time.median_ms / 1000) : std::nullopt;
  }
};

// A variant on a problem: its verdict, its times, and what explains them.
struct cell {
  std::size_t problem = 0;  // index into experiment.problems
  std::string device;       // id of the device that it ran on
  kernel_id kernel;
  kzoo_precision declared{};  // 0: types not supported, or plugin not loaded
  kzoo::verdict verdict = kzoo::verdict::error;
  std::string reason;
  std::string check;  // a step of core/verdict.hpp or a tier's check; empty if none failed
  std::optional<reference::accuracy> accuracy;
  std::optional<reference::error_map> errors;    // a wrong result's, if requested
  std::optional<timing::summary> time;           // only of a cell that passed
  std::optional<timing::summary> hot_time;       // with hot caches, if cold and hot are requested
  std::optional<results::sustained> sustained;   // if requested
  std::optional<timing::end_to_end> end_to_end;  // with allocation and copies, if requested
  results::conditions conditions;                // the device's, while it was timed
  std::vector<finding> findings;                 // from the additional checks of its tier
  double judge_seconds = 0, time_seconds = 0;
  std::vector<launch> launches;        // one run's; empty for libraries like cuBLAS
  std::vector<std::string> libraries;  // GEMM libraries that its plugin has loaded
  // The baseline's time over this time: above 1, the cell is faster. Only if both were timed.
  std::optional<timing::ratio> speedup;
  // The baseline's median on this cell's device. Only if the problem is divided among devices.
  std::optional<double> baseline_ms;

  // Bit-identical results of a run form a class, of which only the first is compared.
  std::optional<std::size_t> same_as;   // the first of the class; none: this cell
  std::vector<difference> differences;  // from the first of each earlier class, for the first only
};

// Whether a cell has times of the simulator, which say nothing of a kernel; whether it has others.
inline bool has_simulated_time(const cell& c) {
  return c.time && c.time->clock == timing::clock::simulator;
}
inline bool is_timed(const cell& c) { return c.time && !has_simulated_time(c); }

// Two results, by the positions of their cells within the problem, a before b.
struct compared_pair {
  std::size_t a = 0, b = 0;
  reference::comparison difference;
};

// Calls f for each pair of compared results, derived from their classes, in the order of b, then a.
void for_each_pair(std::span<const cell> of_one_problem,
                   const std::function<void(const compared_pair&)>& f);

// A device that runs baselines more slowly than another. Medians over the divided problems.
struct slow_device {
  std::string device;
  double slowdown = 1;       // its time over the time of the fastest device
  std::size_t problems = 0;  // that it was measured on
};

struct invocation {
  std::vector<std::string> plugin_folders;  // --plugin-dir, absolute
  bool in_process = false;
};

struct document {
  results::experiment experiment;
  results::device device;                // the first of several devices, which share a model
  std::vector<std::string> devices;      // ids of all devices
  std::optional<roofline::peaks> peaks;  // the device's, if they were measured
  std::vector<plugin_record> plugins;
  std::vector<cell> cells;         // by problem, then in the order of the plugin list
  std::vector<std::string> notes;  // caveats for readers of the figures
  std::size_t planned = 0;         // cells of the whole run; an interrupted run has fewer
  std::string version;             // the runner's
  std::string host;
  invocation invoked;
  std::string started;      // UTC, ISO 8601
  double wall_seconds = 0;  // until the last cell was finished

  bool complete() const { return cells.size() >= planned; }
  const kzoo::problem& problem_of(const cell& c) const { return experiment.problems[c.problem]; }
  std::span<const cell> cells_of(std::size_t problem) const;
  // The plugin of that name; null if the run has none.
  const plugin_record* plugin(const std::string& name) const;
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
  // processes, if that was measured and the kernels differ. On two devices, from the speedups: both
  // are ratios within one.
  timing::ratio ratio_of(const cell& a, const cell& b) const;
  // The variation between processes for this kind of clock, which rounds do not show.
  timing::process_spread spread_of(timing::clock clock) const;
  // Sets cell::speedup where it is missing and the baseline ran on the same device.
  // `of_one_problem`: all its cells that this device knows; `is_divided`: others run elsewhere.
  void compare_with_baseline(std::span<cell> of_one_problem, bool is_divided = false) const;
  // The cell's time. Of a divided problem, the time that it would have on the baseline's device.
  double comparable_ms(const cell& c) const;
  // Devices that run the baselines more slowly than other devices of the run do.
  std::vector<slow_device> slow_devices() const;
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
