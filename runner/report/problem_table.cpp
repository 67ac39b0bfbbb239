#include "report/problem_table.hpp"

#include "core/problem.hpp"
#include "os/text.hpp"
#include "report/agreement.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>

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

bool is_simulated(const cell& c) { return c.time && c.time->clock == timing::clock::simulator; }

// The value of a row's bar: GFLOP/s; 0 for the simulator.
double speed_of(const document& d, const cell& c) {
  return c.time && !is_simulated(c) ? d.gflops(c).value_or(0) : 0;
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
              {"clock", {t ? clock_text(*t) : "", kDim}, kLeft, 4},
              // GFLOP/s of the simulator would be meaningless.
              {"GFLOP/s", t && !is_simulated(c) ? number_text(d.gflops(c).value_or(0)) : ""},
              {"% of\npeak", {t && share ? number_text(100 * *share) + "%" : "", kDim}, kRight, 2},
              {d.experiment.baseline ? versus + d.experiment.baseline->text : "",
               t ? speedup_text(d, c) : ""},
              {"", {t ? stop_text(c) : "", kDim}, kLeft},
              {"hot", t && c.hot_time ? time_text(c.hot_time->median_ms) : "", kRight, 1},
              {"sustained", s ? sustained_text(*s, *t) : "", kRight, 1},
              {"power", {s && s->watts ? fmt::format("{:.0f} W", *s->watts) : "", kDim}, kRight, 3},
              {"energy", joules ? joules_text(*joules) : "", kRight, 3},
              {"GFLOP/s\nper W", joules ? number_text(gflop / *joules) : "", kRight, 3}});
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

std::string accuracy_text(const document& d, const cell& c) {
  if (!c.accuracy) return "";
  if (is_integer(d.problem_of(c).dtype)) return c.accuracy->max_abs_error == 0 ? "exact" : "";
  return number_text(c.accuracy->rho_over_sqrt_k);
}

std::vector<const cell*> sorted_cells(const document& d, std::size_t problem, sort_key key) {
  std::vector<const cell*> cells;
  for (const cell& c : d.cells_of(problem)) cells.push_back(&c);
  std::ranges::stable_sort(cells,
                           [&](const cell* a, const cell* b) { return comes_before(*a, *b, key); });
  return cells;
}

bool shows_time(const cell& c, const view& v) { return v.simulator_times || !is_simulated(c); }

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

namespace {

using results::pivot;
using results::pivot_axis;
using results::pivot_value;

std::string coordinate(const document& d, const cell& c, pivot_axis a) {
  const problem& p = d.problem_of(c);
  return a == pivot_axis::m         ? std::to_string(p.m)
         : a == pivot_axis::n       ? std::to_string(p.n)
         : a == pivot_axis::k       ? std::to_string(p.k)
         : a == pivot_axis::shape   ? shape_name(p)
         : a == pivot_axis::dtype   ? types_name(p.dtype)
         : a == pivot_axis::layout  ? std::string(layout_name(p.layout))
         : a == pivot_axis::batch   ? std::to_string(p.batch)
         : a == pivot_axis::problem ? problem_name(p)
         : a == pivot_axis::plugin  ? c.kernel.plugin
         : a == pivot_axis::variant ? c.kernel.variant
                                    : c.kernel.name();
}

// The title of the table that a cell belongs to: what neither axis fixes. M, N and K count as one
// axis, so that a sweep over square problems with n as an axis is one table.
std::string table_of(const document& d, const cell& c, const pivot& p) {
  const auto on_axis = [&](auto... axes) { return ((p.rows == axes || p.columns == axes) || ...); };
  std::vector<std::string> open;
  if (!on_axis(pivot_axis::kernel)) {
    const bool plugin = !on_axis(pivot_axis::plugin), variant = !on_axis(pivot_axis::variant);
    if (plugin || variant) {
      open.push_back(plugin && variant ? c.kernel.name()
                     : plugin          ? c.kernel.plugin
                                       : c.kernel.variant);
    }
  }
  if (!on_axis(pivot_axis::problem)) {
    problem rest = d.problem_of(c);
    if (on_axis(pivot_axis::layout)) rest.layout = layout::nn;
    if (on_axis(pivot_axis::batch)) rest.batch = 1;
    std::string name;
    if (!on_axis(pivot_axis::m, pivot_axis::n, pivot_axis::k, pivot_axis::shape))
      name += ' ' + shape_name(rest);
    if (!on_axis(pivot_axis::dtype)) name += ' ' + types_name(rest.dtype);
    name += problem_details(rest);
    if (!name.empty()) open.push_back(name.substr(1));
  }
  return open.empty() ? "all" : open.size() == 1 ? open[0] : open[0] + ", " + open[1];
}

// A shape, with a letter for the dimension that an axis fixes: "1024x1024xK".
std::string open_shape(const problem& shape, const pivot& p) {
  const auto size = [&](pivot_axis a, std::int64_t value, const char* letter) {
    return p.rows == a || p.columns == a ? letter : std::to_string(value);
  };
  return fmt::format("{}x{}x{}", size(pivot_axis::m, shape.m, "M"),
                     size(pivot_axis::n, shape.n, "N"), size(pivot_axis::k, shape.k, "K"));
}

// Names in the order in which they first appeared.
class ordered_names {
 public:
  void add(const std::string& name) {
    if (known_.insert(name).second) names_.push_back(name);
  }
  auto begin() const { return names_.begin(); }
  auto end() const { return names_.end(); }

 private:
  std::vector<std::string> names_;
  std::set<std::string> known_;
};

// A table of several: its rows and columns in the order of the cells, and the cells by position.
struct sheet {
  ordered_names rows, columns;
  std::map<std::pair<std::string, std::string>, const cell*> cells;
};

using field_maker = std::function<table::field(const cell&)>;

// Leaves out rows in which no cell is `wanted`.
table fill(const sheet& s, const pivot& p, const std::function<bool(const cell&)>& wanted,
           const field_maker& field_of) {
  table t;
  t.add_column(std::string(name_of(p.rows)), table::align::left);
  for (std::string name : s.columns) {
    std::ranges::replace(name, ' ', '\n');  // long names of problems: one word per line
    t.add_column(name);
  }
  for (const std::string& r : s.rows) {
    std::vector<table::field> row{{r}};
    bool any = false;
    for (const std::string& name : s.columns) {
      const auto found = s.cells.find({r, name});
      row.push_back(found == s.cells.end() ? table::field{} : field_of(*found->second));
      any = any || (found != s.cells.end() && wanted(*found->second));
    }
    if (any) t.add_row(std::move(row));
  }
  return t;
}

// For measured and published times; only measured ones have a speedup, which is not handled here.
std::string value_text(const document& d, const cell& c, double ms, pivot_value v) {
  return v == pivot_value::ms ? time_text(ms) : number_text(d.problem_of(c).flops() / (ms * 1e6));
}

// GFLOP/s instead of speedup if the baseline was not timed, for example on another device.
pivot_value shown(const document& d, pivot_value wanted) {
  const bool compared =
      std::ranges::any_of(d.cells, [&](const cell& c) { return d.baseline_of(c) != nullptr; });
  return wanted == pivot_value::speedup && !compared ? pivot_value::gflops : wanted;
}

table::field verdict_field(const document& d, const cell& c) {
  const bool fine = c.verdict == verdict::pass || c.verdict == verdict::unsupported;
  return {verdict_text(d, c), fine ? style::dim : style::bad};
}

table::field measured(const document& d, const cell& c, pivot_value v, const view& shown) {
  if (!c.time || !shows_time(c, shown)) return verdict_field(d, c);
  const std::string text = v == pivot_value::speedup
                               ? speedup_text(d, c)
                               : value_text(d, c, c.time->median_ms, v) + lower_mark(d, c);
  const bool simulated = !text.empty() && c.time->clock == timing::clock::simulator;
  return {text + (simulated ? "*" : "") + (c.time->stopped_early() ? " (stopped early)" : "")};
}

// An error, which is shown of a wrong result too.
table::field error_field(const document& d, const cell& c, const std::string& text) {
  if (!c.accuracy || c.accuracy->rows_checked == 0) return verdict_field(d, c);
  return {text, c.verdict == verdict::pass ? style::plain : style::bad};
}

// A figure that a table shows of its cells.
struct measure {
  std::string name;
  field_maker field_of;
};
std::vector<measure> measures_of(const document& d, pivot_value v, const view& shown) {
  const auto one = [&](const char* name) {
    return std::vector<measure>{
        {name, [&d, v, &shown](const cell& c) { return measured(d, c, v, shown); }}};
  };
  switch (v) {
    case pivot_value::ms:
      return one("time");
    case pivot_value::gflops:
      return one("GFLOP/s");
    case pivot_value::speedup:
      return one(("speedup over " + d.experiment.baseline.value_or(selector{}).text).c_str());
    case pivot_value::error:
      break;
  }
  const auto of = [](const cell& c) { return c.accuracy.value_or(reference::accuracy{}); };
  return {{"largest error / (u S)",
           [of, &d](const cell& c) { return error_field(d, c, number_text(of(c).max_rho)); }},
          {"relative Frobenius error", [of, &d](const cell& c) {
             return error_field(d, c, fmt::format("{:.1e}", of(c).relative_frobenius));
           }}};
}

// Titles of tables in which two problems of different shapes have the same place.
std::set<std::string> ambiguous_titles(const document& d, const pivot& p) {
  std::set<std::string> ambiguous;
  std::set<std::array<std::string, 3>> taken;
  for (const cell& c : d.cells) {
    const std::string title = table_of(d, c, p);
    const bool is_new =
        taken.insert({title, coordinate(d, c, p.rows), coordinate(d, c, p.columns)}).second;
    if (!is_new) ambiguous.insert(title);
  }
  return ambiguous;
}

}  // namespace

void add_pivot(page& out, const document& d, const pivot& p) {
  const std::set<std::string> ambiguous = ambiguous_titles(d, p);
  ordered_names titles;
  std::map<std::string, sheet> sheets;
  bool simulated = false;
  for (const cell& c : d.cells) {
    if (c.kernel.variant.empty()) continue;
    const std::string row = coordinate(d, c, p.rows), column = coordinate(d, c, p.columns);
    std::string title = table_of(d, c, p);
    if (ambiguous.contains(title)) title += ", " + open_shape(d.problem_of(c), p);
    titles.add(title);
    sheet& s = sheets[title];
    s.rows.add(row);
    s.columns.add(column);
    s.cells[{row, column}] = &c;
    simulated = simulated || (p.value != pivot_value::error && c.time &&
                              c.time->clock == timing::clock::simulator);
  }

  // On the simulator, unless its times are asked for: only what is not simulated.
  const auto wanted = [&](const cell& c) {
    return !simulated || out.view().simulator_times || (c.time && shows_time(c, out.view()));
  };
  const pivot_value value = shown(d, p.value);
  for (const std::string& title : titles) {
    const sheet& s = sheets[title];
    for (const measure& each : measures_of(d, value, out.view())) {
      const table figures = fill(s, p, wanted, each.field_of);
      if (figures.rows() == 0) continue;
      out.line(title, style::bold,
               fmt::format(": {} by {} and {}", each.name, name_of(p.rows), name_of(p.columns)));
      out.add(figures);
    }
    // A speedup over a baseline measured here would be meaningless for published times, and they
    // have no errors.
    const std::size_t published = value == pivot_value::ms || value == pivot_value::gflops
                                      ? d.experiment.published.columns.size()
                                      : 0;
    for (std::size_t i = 0; i < published; ++i) {
      bool any = false;
      const table t = fill(s, p, wanted, [&](const cell& c) -> table::field {
        const auto ms = d.published_ms(c, i);
        any = any || ms.has_value();
        return {ms ? value_text(d, c, *ms, value) : "", style::dim};
      });
      if (!any) continue;
      out.item("published, " + d.experiment.published.columns[i].label);
      out.add(t);
    }
    out.end_section();
  }
  if (simulated && out.view().simulator_times) {
    out.line("* time of the simulator: says nothing about the speed of a GPU", style::plain);
    out.end_section();
  }
}

}  // namespace kzoo::report
