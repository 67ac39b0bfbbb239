#include "report/problem_table.hpp"

#include "core/precision.hpp"
#include "os/number_text.hpp"
#include "os/text.hpp"
#include "report/agreement.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

std::string occupancy_text(const results::launch& l) {
  return fmt::format("{:.0f}%{}", 100 * l.occupancy(), l.local_bytes > 0 ? " spills" : "");
}

// "1.42 ms +2.1%": the second is what it takes more than in short turns, if those were timed too.
std::string sustained_text(const results::sustained& s, const timing::summary& burst) {
  const double more = s.time.median_ms / burst.median_ms - 1;
  return time_text(s.time.median_ms) + (more == 0 ? "" : fmt::format(" {:+.1f}%", 100 * more)) +
         (s.settled ? "" : " unsettled");
}

std::string joules_text(double joules) {
  return joules < 1 ? number_text(1000 * joules) + " mJ" : number_text(joules) + " J";
}

// On a GPU its clock rate; otherwise whether the time is real CPU time or the simulator's.
std::string clock_text(const timing::summary& t) {
  if (t.clock != timing::clock::gpu) return std::string(timing::clock_name(t.clock));
  const double mhz = timing::median_mhz(t);
  return mhz > 0 ? fmt::format("{:.0f} MHz", mhz) : "";
}

// That its time is known less well than those of others.
std::string stop_text(const cell& c) {
  return c.time->stopped == timing::stop::slower   ? "stopped early"
         : c.time->stopped == timing::stop::budget ? "budget over"
                                                   : "";
}

// The columns of times; all empty for a cell whose time is not shown.
std::vector<table::field> time_fields(const document& d, const cell& c, const view& v) {
  std::vector<table::field> fields;
  if (c.time && shows_time(c, v)) {
    fields.push_back({time_text(c.time->median_ms)});
    fields.push_back({fmt::format("±{:.1f}%", 50 * c.time->spread), style::dim});
    fields.push_back({clock_text(*c.time), style::dim});
    // GFLOP/s of the simulator would be meaningless.
    fields.push_back(
        {c.time->clock == timing::clock::simulator ? "" : number_text(d.gflops(c).value_or(0))});
    const auto share = d.share_of_peak(c);
    fields.push_back({share ? number_text(100 * *share) + "%" : "", style::dim});
    fields.push_back({speedup_text(d, c)});
    fields.push_back({stop_text(c), style::dim});
    fields.push_back({c.hot_time ? time_text(c.hot_time->median_ms) : ""});
    if (c.sustained) {
      fields.push_back({sustained_text(*c.sustained, *c.time)});
      const auto watts = c.sustained->watts, joules = c.sustained->joules();
      fields.push_back({watts ? fmt::format("{:.0f} W", *watts) : "", style::dim});
      fields.push_back({joules ? joules_text(*joules) : ""});
      const double gflop = d.problem_of(c).flops() * 1e-9;
      fields.push_back({joules ? number_text(gflop / *joules) : ""});
    }
  }
  fields.resize(12);
  return fields;
}

// What its bar shows: GFLOP/s, of anything but the simulator.
double speed_of(const document& d, const cell& c) {
  const bool real = c.time && c.time->clock != timing::clock::simulator;
  return real ? d.gflops(c).value_or(0) : 0;
}

std::vector<table::field> row(const document& d, const cell& c, const agreed* others,
                              const view& v) {
  std::vector<table::field> fields{{c.kernel.name()}, {verdict_text(d, c), style_of(c.verdict)}};
  const std::vector<table::field> times = time_fields(d, c, v);
  const table::field error{accuracy_text(d, c)};
  if (others != nullptr) fields.insert(fields.end(), {error, agreement_field(*others)});
  fields.insert(fields.end(), times.begin(), times.end());
  if (others == nullptr) fields.push_back(error);
  fields.push_back({results::batch_invariance(c.findings)});
  const results::launch* product = results::main_launch(c.launches);
  fields.push_back({product ? std::to_string(product->registers) : "", style::dim});
  fields.push_back({product ? shared_text(*product) : "", style::dim});
  fields.push_back({product ? occupancy_text(*product) : "", style::dim});
  for (std::size_t i = 0; i < d.experiment.published.columns.size(); ++i) {
    const auto ms = d.published_ms(c, i);
    fields.push_back({ms ? time_text(*ms) : "", style::dim});
  }
  return fields;
}

// Titles, and how soon each column leaves a table that is too wide.
void add_columns(table& t, const document& d, bool simulated, bool narrow) {
  constexpr auto kLeft = table::align::left, kRight = table::align::right;
  t.add_columns({"kernel", "verdict"}, kLeft);
  if (simulated) t.add_columns({kErrorTitle, "agreement"});
  t.add_column("time");
  t.add_column("spread", kRight, 5);
  t.add_column("clock", kLeft, 4);
  t.add_column("GFLOP/s");
  t.add_column("% of\npeak", kRight, 2);
  t.add_column(d.experiment.baseline ? (narrow ? "vs\n" : "vs ") + d.experiment.baseline->text
                                     : "");
  t.add_column("", kLeft);  // that it was stopped early
  t.add_column("hot", kRight, 1);
  t.add_column("sustained", kRight, 1);
  t.add_column("power", kRight, 3);
  t.add_column("energy", kRight, 3);
  t.add_column("GFLOP/s\nper W", kRight, 3);
  if (!simulated) t.add_column(kErrorTitle, kRight, 3);
  t.add_column("batch\ninvariant", kLeft, 4);
  t.add_column("regs", kRight, 6);
  t.add_column("shared", kRight, 7);
  t.add_column("occupancy", kRight, 8);
  for (const auto& column : d.experiment.published.columns) t.add_column(column.label, kRight, 9);
}

std::string throttling_text(const cell& c) {
  std::string text = counted(c.time->throttled, "sample") + " discarded";
  if (c.time->low_clock) text += ", the others kept although the clock did not recover";
  if (c.conditions.clock_reasons.empty()) return text;
  return text + fmt::format(" ({})", fmt::join(c.conditions.clock_reasons, ", "));
}

bool passed_in_lower(const document& d, const cell& c) {
  return c.verdict == verdict::pass &&
         is_less_precise(c.declared, d.expected_precision(c), d.problem_of(c).dtype);
}

}  // namespace

style style_of(verdict v) {
  return v == verdict::pass ? style::good : is_declined(v) ? style::dim : style::bad;
}

std::string shared_text(const results::launch& l) {
  const auto bytes = static_cast<double>(l.static_shared + l.dynamic_shared);
  return bytes == 0 ? "0" : number_text(bytes / 1024) + " KiB";
}

std::string verdict_text(const document& d, const cell& c) {
  const std::string_view words = verdict_name(c.verdict);
  return passed_in_lower(d, c) ? fmt::format("{}, {}", words, precision_name(c.declared))
                               : std::string(words);
}

std::string lower_mark(const document& d, const cell& c) {
  return passed_in_lower(d, c) ? fmt::format(" ({})", precision_name(c.declared)) : "";
}

std::string lower_than(const document& d, const cell& c, const cell* baseline) {
  const bool lower =
      baseline != nullptr && is_less_precise(c.declared, baseline->declared, d.problem_of(c).dtype);
  return lower ? fmt::format(" ({} vs {})", precision_name(c.declared),
                             precision_name(baseline->declared))
               : "";
}

std::string speedup_text(const document& d, const cell& c) {
  if (!c.speedup) return "";
  const cell* baseline = d.baseline_of(c);
  return number_text(c.speedup->value) + "x" + (c.speedup->tie() && baseline != &c ? " tie" : "") +
         lower_than(d, c, baseline);
}

std::string accuracy_text(const document& d, const cell& c) {
  if (!c.accuracy) return "";
  if (is_integer(d.problem_of(c).dtype)) return c.accuracy->max_abs_error == 0 ? "exact" : "";
  return number_text(c.accuracy->rho_over_sqrt_k);
}

namespace {

bool comes_before(const cell& a, const cell& b, sort_key key) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto time = [](const cell& c) { return c.time ? c.time->median_ms : kNone; };
  const auto slowness = [](const cell& c) { return c.speedup ? 1 / c.speedup->value : kNone; };
  switch (key) {
    case sort_key::speedup:
      return slowness(a) < slowness(b);
    case sort_key::time:
      return time(a) < time(b);
    case sort_key::name:
      return a.kernel < b.kernel;
    case sort_key::none:
      break;
  }
  return false;
}

// Leaves the baseline, and of each plugin the fastest `most` that passed, in the order in which
// they are.
std::size_t fold(const document& d, std::vector<const cell*>& cells, std::size_t most) {
  const std::size_t before = cells.size();
  std::map<std::string, std::vector<double>> times;  // by plugin
  for (const cell* c : cells)
    if (c->time) times[c->kernel.plugin].push_back(c->time->median_ms);
  for (auto& [plugin, all] : times) std::ranges::sort(all);
  std::erase_if(cells, [&](const cell* c) {
    if (!c->time || d.experiment.is_baseline(c->kernel.plugin, c->kernel.variant)) return false;
    const std::vector<double>& all = times.at(c->kernel.plugin);
    return all.size() > most && c->time->median_ms > all[most - 1];
  });
  return before - cells.size();
}

}  // namespace

std::vector<const cell*> sorted_cells(const document& d, std::size_t problem, sort_key key) {
  std::vector<const cell*> cells;
  for (const cell& c : d.cells_of(problem)) cells.push_back(&c);
  std::ranges::stable_sort(cells,
                           [&](const cell* a, const cell* b) { return comes_before(*a, *b, key); });
  return cells;
}

bool shows_time(const cell& c, const view& v) {
  return v.simulator_times || !c.time || c.time->clock != timing::clock::simulator;
}

problem_rows problem_table(const document& d, std::size_t problem, const view& v) {
  const auto cells = d.cells_of(problem);
  const bool simulated =
      std::ranges::any_of(cells, [&](const cell& c) { return !shows_time(c, v); });
  const std::vector<agreed> others =
      simulated ? agreement_of_cells(d, problem) : std::vector<agreed>();
  double fastest = 0;
  for (const cell& c : cells) fastest = std::max(fastest, speed_of(d, c));
  const bool is_narrow = v.columns != kNoLimit, tunes = d.experiment.overridden.tune;
  const sort_key key = v.sort == sort_key::none && tunes ? sort_key::time : v.sort;
  std::vector<const cell*> shown = sorted_cells(d, problem, key);
  std::erase_if(shown, [](const cell* c) { return is_declined(c->verdict); });
  constexpr std::size_t kLong = 20, kOfTuning = 10;
  problem_rows rows;
  if (is_narrow && !simulated && shown.size() > kLong)
    rows.folded = fold(d, shown, tunes ? kOfTuning : 1);
  table& t = rows.times;
  add_columns(t, d, simulated, is_narrow);
  for (const cell* c : shown) {
    const agreed* const other =
        simulated ? &others[static_cast<std::size_t>(c - cells.data())] : nullptr;
    t.add_row(row(d, *c, other, v), fastest > 0 ? speed_of(d, *c) / fastest : 0);
  }
  return rows;
}

table end_to_end_table(const results::document& d, std::size_t problem, const view& v) {
  table t;
  t.add_column("end to end", table::align::left);
  t.add_columns({"allocate", "to device", "kernel", "to host", "total"});
  t.add_column("clock", table::align::left);
  for (const results::cell& c : d.cells_of(problem)) {
    if (!c.end_to_end || !c.time || !shows_time(c, v)) continue;
    const timing::end_to_end& e = *c.end_to_end;
    const bool gpu = c.time->clock == timing::clock::gpu;
    t.add_row({{c.kernel.name()},
               {time_text(e.allocate_ms)},
               {time_text(e.to_device_ms)},
               {time_text(e.kernel_ms)},
               {time_text(e.to_host_ms)},
               {time_text(e.total_ms())},
               {gpu ? "" : std::string(timing::clock_name(c.time->clock)), style::dim}});
  }
  return t;
}

std::vector<std::string> floors(const document& d, std::size_t problem) {
  std::vector<std::string> lines;
  for (const cell& c : d.cells_of(problem)) {
    const auto floor = d.floor_of(c);
    if (!floor) continue;
    add_once(lines, fmt::format("roofline floor of {}: {}, {}", precision_name(c.declared),
                                time_text(floor->ms), text_of(*floor)));
  }
  return lines;
}

std::vector<throttling> throttled(const document& d, std::size_t problem) {
  std::vector<throttling> found;
  for (const cell& c : d.cells_of(problem)) {
    if (!c.time || (c.time->throttled == 0 && !c.time->low_clock)) continue;
    found.push_back({c.kernel.name(), throttling_text(c)});
  }
  return found;
}

}  // namespace kzoo::report
