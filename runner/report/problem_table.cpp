#include "report/problem_table.hpp"

#include "core/problem.hpp"
#include "os/text.hpp"
#include "report/agreement.hpp"
#include "report/report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

std::string occupancy_text(const results::launch& l) {
  return fmt::format("{:.0f}%{}", 100 * l.occupancy(), l.local_bytes > 0 ? " spills" : "");
}

// "1.42 ms +2.1%": the time, and its increase over short turns if these were timed.
std::string sustained_text(const results::sustained& s, const timing::summary& burst) {
  const double more = s.time.median_ms / burst.median_ms - 1;
  return time_text(s.time.median_ms) + (more == 0 ? "" : fmt::format(" {:+.1f}%", 100 * more)) +
         (s.settled ? "" : " unsettled");
}

std::string joules_text(double joules) {
  return joules < 1 ? number_text(1000 * joules) + " mJ" : number_text(joules) + " J";
}

// On a GPU its clock rate; otherwise whether the time is real CPU time or the simulator's.
std::string clock_of(const timing::summary& t) {
  if (t.clock != timing::clock::gpu) return std::string(name_of(t.clock));
  const double mhz = timing::median_mhz(t);
  return mhz > 0 ? fmt::format("{:.0f} MHz", mhz) : "";
}

// Says that the time of a cell is known less well than other times.
std::string stop_text(const cell& c) {
  return c.time->stopped == timing::stop::slower   ? "stopped early"
         : c.time->stopped == timing::stop::budget ? "budget over"
                                                   : "";
}

// The value of a row's bar: GFLOP/s; 0 for the simulator.
double speed_of(const document& d, const cell& c) {
  return is_timed(c) ? d.gflops(c).value_or(0) : 0;
}

// `others`: on the simulator, how the cell agrees with the others of its problem.
std::vector<table::entry> entries_of(const document& d, const cell& c, const agreed* others,
                                     const view& v) {
  constexpr auto kLeft = table::align::left, kRight = table::align::right;
  constexpr auto kDim = style::dim;
  const timing::summary* const t = c.time && shows_time(c, v) ? &*c.time : nullptr;
  const results::sustained* const s = t && c.sustained ? &*c.sustained : nullptr;
  const results::launch* const product = results::main_launch(c.launches);
  const auto share = d.share_of_peak(c);
  const auto joules = s ? s->joules() : std::nullopt;
  const double gflop = d.problem_of(c).flops() * 1e-9;
  const std::string error = accuracy_text(d, c), versus = v.columns != kNoLimit ? "vs\n" : "vs ";
  std::vector<table::entry> all{{"kernel", c.kernel.name(), kLeft},
                                {"verdict", {verdict_text(d, c), style_of(c.verdict)}, kLeft}};
  if (others != nullptr) {
    all.push_back({kErrorTitle, error});
    all.push_back({"agreement", agreement_field(*others)});
  }
  all.insert(all.end(),
             {{"time", t ? time_text(t->median_ms) : ""},
              {"spread", {t ? fmt::format("±{:.1f}%", 50 * t->spread) : "", kDim}, kRight, 5},
              {"clock", {t ? clock_of(*t) : "", kDim}, kLeft, 4},
              // GFLOP/s of the simulator would be meaningless.
              {"GFLOP/s", t && is_timed(c) ? number_text(d.gflops(c).value_or(0)) : ""},
              {"% of\npeak", {t && share ? number_text(100 * *share) + "%" : "", kDim}, kRight, 2},
              {d.experiment.baseline ? versus + d.experiment.baseline->text : "",
               t ? speedup_text(d, c) : ""},
              {"", {t ? stop_text(c) : "", kDim}, kLeft},
              {"hot", t && c.hot_time ? time_text(c.hot_time->median_ms) : "", kRight, 1},
              {"sustained", s ? sustained_text(*s, *t) : "", kRight, 1},
              {"power", {s && s->watts ? fmt::format("{:.0f} W", *s->watts) : "", kDim}, kRight, 3},
              {"energy", joules ? joules_text(*joules) : "", kRight, 3},
              {"GFLOP/s\nper W", joules ? number_text(gflop / *joules) : "", kRight, 3}});
  if (d.devices.size() > 1 && is_divided(d.cells_of(c.problem)))
    all.push_back({"device", {c.device, kDim}, kLeft, 2});
  if (others == nullptr) all.push_back({kErrorTitle, error, kRight, 3});
  all.insert(all.end(),
             {{"batch\ninvariant", results::batch_invariance(c.findings), kLeft, 4},
              {"regs", {product ? std::to_string(product->registers) : "", kDim}, kRight, 6},
              {"shared", {product ? shared_text(*product) : "", kDim}, kRight, 7},
              {"occupancy", {product ? occupancy_text(*product) : "", kDim}, kRight, 8}});
  for (std::size_t i = 0; i < d.experiment.published.columns.size(); ++i) {
    const auto ms = d.published_ms(c, i);
    all.push_back(
        {d.experiment.published.columns[i].label, {ms ? time_text(*ms) : "", kDim}, kRight, 9});
  }
  return all;
}

bool passed_in_lower(const document& d, const cell& c) {
  return c.verdict == verdict::pass &&
         is_less_precise(c.declared, d.expected_precision(c), d.problem_of(c).dtype);
}

bool comes_before(const document& d, const cell& a, const cell& b, sort_key key) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto time = [&](const cell& c) { return c.time ? d.comparable_ms(c) : kNone; };
  const auto slowness = [](const cell& c) { return c.speedup ? 1 / c.speedup->value : kNone; };
  switch (key) {
    case sort_key::speedup: return slowness(a) < slowness(b);
    case sort_key::time: return time(a) < time(b);
    case sort_key::name: return a.kernel < b.kernel;
    case sort_key::none: break;
  }
  return false;
}

// Removes timed cells that are not among the fastest `most` of their plugin, except the baseline.
// Returns their number.
std::size_t fold(const document& d, std::vector<const cell*>& cells, std::size_t most) {
  const std::size_t before = cells.size();
  std::map<std::string, std::vector<double>> times;  // by plugin
  for (const cell* c : cells)
    if (c->time) times[c->kernel.plugin].push_back(d.comparable_ms(*c));
  for (auto& [plugin, all] : times) std::ranges::sort(all);
  std::erase_if(cells, [&](const cell* c) {
    if (!c->time || d.experiment.is_baseline(c->kernel.plugin, c->kernel.variant)) return false;
    const std::vector<double>& all = times.at(c->kernel.plugin);
    return all.size() > most && d.comparable_ms(*c) > all[most - 1];
  });
  return before - cells.size();
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
  const std::string_view words = name_of(c.verdict);
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

bool is_divided(std::span<const cell> of_one_problem) {
  return std::ranges::any_of(
      of_one_problem, [&](const cell& c) { return c.device != of_one_problem.front().device; });
}

std::string accuracy_text(const document& d, const cell& c) {
  if (!c.accuracy) return "";
  if (is_integer(d.problem_of(c).dtype)) return c.accuracy->max_abs_error == 0 ? "exact" : "";
  return number_text(c.accuracy->rho_over_sqrt_k);
}

std::vector<const cell*> sorted_cells(const document& d, std::size_t problem, sort_key key) {
  std::vector<const cell*> cells;
  for (const cell& c : d.cells_of(problem)) cells.push_back(&c);
  std::ranges::stable_sort(
      cells, [&](const cell* a, const cell* b) { return comes_before(d, *a, *b, key); });
  return cells;
}

bool shows_time(const cell& c, const view& v) {
  return v.simulator_times || !has_simulated_time(c);
}

problem_rows problem_table(const document& d, std::size_t problem, const view& v) {
  const auto cells = d.cells_of(problem);
  const bool simulated =
      std::ranges::any_of(cells, [&](const cell& c) { return !shows_time(c, v); });
  const std::vector<agreed> others =
      simulated ? agreement_of_cells(d, problem) : std::vector<agreed>();
  double fastest = 0;
  for (const cell& c : cells) fastest = std::max(fastest, speed_of(d, c));
  const bool tunes = d.experiment.overridden.tune;
  const sort_key key = v.sort == sort_key::none && tunes ? sort_key::time : v.sort;
  std::vector<const cell*> shown = sorted_cells(d, problem, key);
  std::erase_if(shown, [](const cell* c) { return is_declined(c->verdict); });
  constexpr std::size_t kLong = 20, kOfTuning = 10;
  problem_rows rows;
  if (v.columns != kNoLimit && !simulated && shown.size() > kLong)
    rows.folded = fold(d, shown, tunes ? kOfTuning : 1);
  for (const cell* c : shown) {
    const agreed* const other = simulated ? &others[std::size_t(c - cells.data())] : nullptr;
    rows.times.add_entries(entries_of(d, *c, other, v),
                           fastest > 0 ? speed_of(d, *c) / fastest : 0);
  }
  return rows;
}

table end_to_end_table(const document& d, std::size_t problem, const view& v) {
  table t;
  for (const cell& c : d.cells_of(problem)) {
    if (!c.end_to_end || !c.time || !shows_time(c, v)) continue;
    const timing::end_to_end& e = *c.end_to_end;
    const bool gpu = c.time->clock == timing::clock::gpu;
    const std::string clock(gpu ? "" : name_of(c.time->clock));
    t.add_entries({{"end to end", c.kernel.name(), table::align::left},
                   {"allocate", time_text(e.allocate_ms)},
                   {"to device", time_text(e.to_device_ms)},
                   {"kernel", time_text(e.kernel_ms)},
                   {"to host", time_text(e.to_host_ms)},
                   {"total", time_text(e.total_ms())},
                   {"clock", {clock, style::dim}, table::align::left}});
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

}  // namespace kzoo::report
