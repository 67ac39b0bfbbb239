#pragma once
// All that one run of an experiment found out. Reports are made from this and nothing else.

#include "core/problem.hpp"
#include "core/verdict.hpp"
#include "devices/conditions.hpp"
#include "devices/devices.hpp"
#include "experiment/experiment.hpp"
#include "referee/referee.hpp"
#include "roofline/ceilings.hpp"
#include "roofline/floor.hpp"
#include "timing/bootstrap.hpp"
#include "timing/end_to_end.hpp"
#include "timing/summary.hpp"
#include "verify/check.hpp"
#include "workers/messages.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::results {

// A plugin that the experiment names.
struct plugin_record {
  std::string name;            // its file's name: what users type
  std::filesystem::path file;  // empty when there is no build for the device
  std::optional<workers::plugin_description> description;  // of a library that could be loaded
  std::string problem;                                     // why it could not; "" otherwise
  std::string sha256;                                      // of the file; "" when there is none

  // A library is there and cannot be used: somebody's mistake, unlike a build for another device.
  bool broken() const { return !file.empty() && !description; }
};

// One variant on one problem.
struct cell {
  std::size_t problem = 0;      // index into experiment.problems
  std::string device;           // the id of the one that it ran on
  std::string plugin, variant;  // variant is empty where the plugin could not be asked
  kzoo_precision declared{};    // 0 likewise
  kzoo::verdict verdict = kzoo::verdict::error;
  std::string reason;
  std::optional<referee::accuracy> accuracy;
  std::optional<referee::error_map> errors;      // of one that is wrong, where they are asked for
  std::optional<timing::summary> time;           // only of a cell that passed
  std::optional<timing::summary> hot_time;       // beside a cold one, where both are asked for
  std::optional<timing::end_to_end> end_to_end;  // likewise, where it is asked for
  devices::conditions conditions;                // of the device while it was timed
  std::vector<verify::finding> findings;         // of the checks that its tier adds
  std::vector<workers::launch> launches;         // of one run; empty for libraries like cuBLAS

  std::string kernel() const { return variant.empty() ? plugin : plugin + ":" + variant; }
};

// Two results of one problem, compared with each other.
struct agreement {
  std::size_t problem = 0;
  std::string a, b;  // as cell::kernel() has it
  referee::comparison difference;
};

// What the command line said apart from the experiment's own overrides.
struct invocation {
  std::vector<std::string> plugin_folders;  // --plugin-dir, absolute
  bool in_process = false;
};

struct document {
  experiment::experiment experiment;
  devices::device device;                      // the first, where it ran on several of one model
  std::vector<std::string> devices;            // the ids of all
  std::optional<roofline::ceilings> ceilings;  // of the device, where they were known
  std::vector<plugin_record> plugins;
  std::vector<cell> cells;  // by problem, then in the order of the plugin list
  std::vector<agreement> agreements;
  std::vector<std::string> notes;  // what a reader must know before believing the figures
  std::size_t planned = 0;         // cells in all; fewer are there when the run was interrupted
  std::string version;             // of the runner that ran it
  std::string host;
  invocation invoked;
  std::string started;      // UTC, ISO 8601
  double wall_seconds = 0;  // until the last cell was finished

  bool complete() const { return cells.size() >= planned; }
  const kzoo::problem& problem_of(const cell& c) const { return experiment.problems[c.problem]; }
  // GFLOP/s of a cell that was timed.
  std::optional<double> gflops(const cell& c) const;
  // Of a cell that was timed, by another clock than the simulator's, where ceilings are known: its
  // speed over the peak of the precision that it declares, and the least time that it can take.
  std::optional<double> share_of_peak(const cell& c) const;
  std::optional<roofline::floor> floor_of(const cell& c) const;
  // The published time that belongs to the cell, for one column of experiment.published.
  std::optional<double> published_ms(const cell& c, std::size_t column) const;
  // The cell that this one is compared with: the experiment's baseline, or the one that a selector
  // names; same problem, same kind of clock, both timed.
  const cell* baseline_of(const cell& c) const;
  const cell* baseline_of(const cell& c, const std::string& selector) const;
  // The baseline's time over the cell's: above 1 is faster.
  std::optional<timing::ratio> speedup(const cell& c) const;
};

// 0: every cell passed, or was declared unsupported, or has no build for this device; 1 otherwise.
int exit_code(const document& d);

}  // namespace kzoo::results
