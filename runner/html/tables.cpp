#include "html/tables.hpp"

#include "html/plotted.hpp"
#include "os/number_text.hpp"
#include "report/agreement.hpp"
#include "report/csv.hpp"
#include "report/focus.hpp"
#include "report/problem_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace kzoo::html {
namespace {

using report::csv_line;
using report::csv_table;
using report::is_timed;
using results::cell;
using results::document;

// Calls f with each cell, its result and its number in the page.
void for_each_cell(
    std::span<const named_result> all,
    const std::function<void(const named_result&, const cell&, std::size_t number)>& f) {
  std::size_t number = 0;
  for (const named_result& r : all)
    for (const cell& c : r.document->cells) f(r, c, number++);
}

// "44.8x as fast", "3.1 % faster", "2.0 % slower", "tie".
std::string gain_text(const timing::ratio& gain) {
  if (gain.tie()) return "tie";
  if (gain.value >= 2) return number_text(gain.value) + "x as fast";
  const double percent = 100 * (gain.value - 1);
  return fmt::format("{:.1f} % {}", std::abs(percent), percent < 0 ? "slower" : "faster");
}

void add_plotted(csv_line& l, const document& d, const cell& c, const plotted& how) {
  const problem& p = d.problem_of(c);
  const bool timed = is_timed(c);
  const auto rate = timed ? d.gflops(c) : std::nullopt;
  l.number("size", std::cbrt(double(p.m) * double(p.n) * double(p.k)));
  l.add("sweep", timed ? how.sweep : "");
  l.add("tone", how.tone);
  l.number("rate", rate.value_or(NAN));
  l.add("rate_text", rate ? number_text(*rate) : "");
  l.add("time_text", timed ? timed_text(*c.time) : "");
  // Without an interval, that of the figure alone.
  const bool sure = timed && c.speedup && c.speedup->likely;
  const double percent = timed && c.speedup ? 100 * c.speedup->value : NAN;
  l.number("percent", percent);
  l.number("percent_low", sure ? 100 * c.speedup->likely->low : percent);
  l.number("percent_high", sure ? 100 * c.speedup->likely->high : percent);
  l.number("bar", how.bar);
  l.number("bar_from", how.from_zero ? 0 : how.bar);
  l.number("bar_low", how.low);
  l.number("bar_high", how.high);
  l.add("speedup_text", timed ? report::speedup_text(d, c) : "");
  l.add("fastest", how.fastest ? "yes" : "");
  l.add("gain_text", how.gain ? gain_text(*how.gain) : "");
  l.number("rate_label", how.rate_label);
  l.number("relative_label", how.relative_label);
  l.number("roofline_label", how.roofline_label);
  l.number("intensity", timed && d.peak_of(c) ? roofline::intensity_of(*d.peaks, p) : NAN);
  l.add("error_text", report::accuracy_text(d, c));
  const double allowed = c.accuracy ? 100 * c.accuracy->worst_of_allowed : 0;
  l.number("percent_of_allowed", allowed > 0 ? allowed : NAN);
  const results::conditions& k = c.conditions;
  l.number("watts", k.watts.value_or(NAN));
  double low = NAN, high = NAN;
  if (c.time) {
    for (const double mhz : c.time->sm_mhz.unpacked()) {
      if (mhz <= 0) continue;
      low = std::fmin(low, mhz);
      high = std::fmax(high, mhz);
    }
  }
  l.number("sm_mhz_low", low);
  l.number("sm_mhz_high", high);
  l.add("clock_reasons", fmt::format("{}", fmt::join(k.clock_reasons, ", ")));
}

// The roofs of a result over the intensities that are plotted. Where one bends is drawn if that is
// near. The name stands at the right end; roofs close to each other share one.
void add_roofs(csv_table& t, const named_result& r, const std::map<kzoo_precision, double>& peaks,
               double left, double right) {
  constexpr double kMargin = 1.3, kNear = 4, kClose = 1.25;
  const double memory = *roofline::memory_rate(*r.document->peaks);
  std::vector<std::pair<double, kzoo_precision>> roofs;
  for (const auto& [precision, peak] : peaks) roofs.emplace_back(peak, precision);
  std::ranges::sort(roofs);
  std::string names;
  for (std::size_t i = 0; i < roofs.size(); ++i) {
    const auto [peak, precision] = roofs[i];
    const std::string text =
        fmt::format("{} {}", precision_name(precision), quantity_text(peak, "FLOP/s"));
    report::add_item(names, text);
    const bool is_last = i + 1 == roofs.size() || roofs[i + 1].first > kClose * peak;
    const double bend = peak / memory;
    std::set<double> corners{left / kMargin, right * kMargin};
    if (bend > left / kNear && bend < right * kNear) corners.insert({bend / kMargin, bend});
    for (const double x : corners) {
      csv_line l;
      l.add("result", r.label);
      l.add("precision", precision_name(precision));
      l.number("intensity", x);
      l.number("rate", std::min(peak, x * memory) / 1e9);
      l.add("text", fmt::format("{}, memory {}", text, quantity_text(memory, "B/s")));
      l.add("name", x == *corners.rbegin() && is_last ? names : "");
      t.add(l);
    }
    if (is_last) names.clear();
  }
}

// What a character of an error map means.
std::string_view meaning_of(char c) {
  return c == '.'   ? "right"
         : c == '#' ? "all wrong"
         : c == 'o' ? "not written"
         : c == 'N' ? "not finite"
                    : "partly wrong";
}

}  // namespace

std::string timed_text(const timing::summary& time) {
  return time_text(time.median_ms) + (time.stopped_early() ? ", stopped early" : "");
}

std::string cells_table(std::span<const named_result> all) {
  csv_table t;
  plotted_cells how = plot(all);
  for_each_cell(all, [&](const named_result& r, const cell& c, std::size_t number) {
    const document& d = *r.document;
    csv_line l;
    l.number("cell", number);
    l.add("result", r.label);
    l.add("kernel", c.kernel.name());
    l.add("problem", problem_name(d.problem_of(c)));
    add_plotted(l, d, c, how[&c]);
    // Published figures are columns of their own in each result; the tables have them.
    const csv_line own = report::line_of(d, c);
    l.append(own, [](std::string_view name) { return !name.starts_with("published_ms "); });
    t.add(l);
  });
  return t.take();
}

std::string samples_table(std::span<const named_result> all) {
  std::string text = "cell,round,ms,mhz\n";
  for_each_cell(all, [&](const named_result&, const cell& c, std::size_t number) {
    if (!is_timed(c)) return;
    const timing::summary& time = *c.time;
    for (std::size_t i = 0; i < time.samples_ms.size(); ++i) {
      const double mhz = i < time.sm_mhz.size() ? time.sm_mhz[i] : 0;
      text += fmt::format("{},{},{:.6g},{}\n", number, time.rounds[i] + 1, time.samples_ms[i],
                          mhz > 0 ? fmt::format("{:.0f}", mhz) : "");
    }
  });
  return text;
}

std::string agreement_table(std::span<const named_result> all) {
  csv_table t;
  for (const named_result& r : all) {
    const report::agreement_matrix m = report::agreement_of(*r.document);
    if (m.names.size() > report::kLargestMatrix) continue;
    for (std::size_t a = 0; a < m.names.size(); ++a) {
      for (std::size_t b = 0; b < m.names.size(); ++b) {
        const auto found = m.entries.find(std::minmax(a, b));
        if (a == b || found == m.entries.end()) continue;
        const report::agreed& worst = found->second;
        csv_line l;
        l.add("result", r.label);
        l.number("row", a + 1);
        l.number("column", b + 1);
        l.add("kernel", m.names[a]);
        l.add("other", m.names[b]);
        const bool agree = worst.agreeing == worst.pairs;
        l.number("percent", std::min(100.0, 100 * worst.of_allowed));
        l.add("text", report::agreement_field(worst).text);
        l.add("kind", !agree ? "differ" : worst.of_allowed == 0 ? "bit-identical" : "agree");
        t.add(l);
      }
    }
  }
  return t.take();
}

std::string roofs_table(std::span<const named_result> all) {
  csv_table t;
  for (const named_result& r : all) {
    const document& d = *r.document;
    if (!d.peaks || !roofline::memory_rate(*d.peaks)) continue;
    std::map<kzoo_precision, double> peaks;
    double left = INFINITY, right = 0;
    for (const cell& c : d.cells) {
      const auto peak = is_timed(c) ? d.peak_of(c) : std::nullopt;
      if (!peak) continue;
      peaks[c.declared] = *peak;
      const double x = roofline::intensity_of(*d.peaks, d.problem_of(c));
      left = std::min(left, x);
      right = std::max(right, x);
    }
    add_roofs(t, r, peaks, left, right);
  }
  return t.take();
}

std::string errors_table(std::span<const named_result> all) {
  csv_table t;
  for_each_cell(all, [&](const named_result& r, const cell& c, std::size_t number) {
    if (!c.errors) return;
    const reference::error_map& map = *c.errors;
    for (std::size_t y = 0; y < map.picture.size(); ++y) {
      for (std::size_t x = 0; x < map.picture[y].size(); ++x) {
        csv_line l;
        l.number("cell", number);
        l.add("map", fmt::format("{}{} on {}", all.size() > 1 ? r.label + ": " : "",
                                 c.kernel.name(), problem_name(r.document->problem_of(c))));
        l.number("row", static_cast<std::int64_t>(y) * map.rows_per_line);
        l.number("row_end", static_cast<std::int64_t>(y + 1) * map.rows_per_line);
        l.number("column", static_cast<std::int64_t>(x) * map.columns_per_character);
        l.number("column_end", static_cast<std::int64_t>(x + 1) * map.columns_per_character);
        l.add("kind", meaning_of(map.picture[y][x]));
        t.add(l);
      }
    }
  });
  return t.take();
}

}  // namespace kzoo::html
