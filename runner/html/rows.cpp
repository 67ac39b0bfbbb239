#include "core/precision.hpp"
#include "html/charts.hpp"
#include "os/printable.hpp"
#include "os/text.hpp"
#include "report/agreement.hpp"
#include "report/focus.hpp"
#include "report/problem_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kzoo::html {
namespace {

using report::is_timed;
using results::cell;
using results::document;

// Calls f with each cell, its result and its number in the page.
void for_each_cell(std::span<const named_result> all,
                   const std::function<void(const named_result&, const cell&, double number)>& f) {
  double number = 0;
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

chart_row cell_row(const named_result& r, const cell& c, double number, const plotted& how) {
  const document& d = *r.document;
  const problem& p = d.problem_of(c);
  const bool timed = is_timed(c);
  const auto rate = timed ? d.gflops(c) : std::nullopt;
  // Without an interval, that of the figure alone.
  const bool sure = timed && c.speedup && c.speedup->likely;
  const double percent = timed && c.speedup ? 100 * c.speedup->value : NAN;
  const double allowed = c.accuracy ? 100 * c.accuracy->worst_of_allowed : 0;
  double low = NAN, high = NAN, median = c.time ? timing::median_mhz(*c.time) : 0;
  for (const double mhz : c.time ? c.time->sm_mhz.unpacked() : std::vector<double>()) {
    if (mhz <= 0) continue;
    low = std::fmin(low, mhz);
    high = std::fmax(high, mhz);
  }
  return {{"cell", json(number)},
          {"result", json(r.label)},
          {"kernel", json(c.kernel.name())},
          {"plugin", json(c.kernel.plugin)},
          {"precision", json(c.declared == 0 ? "" : precision_name(c.declared))},
          {"problem", json(problem_name(p))},
          {"k", json(double(p.k))},
          {"size", json(std::cbrt(double(p.m) * double(p.n) * double(p.k)))},
          {"sweep", json(timed ? how.sweep : "")},
          {"tone", json(how.tone)},
          {"rate", json(rate.value_or(NAN))},
          {"rate_text", json(rate ? number_text(*rate) : "")},
          {"time_text", json(timed ? timed_text(*c.time) : "")},
          {"percent", json(percent)},
          {"percent_low", json(sure ? 100 * c.speedup->likely->low : percent)},
          {"percent_high", json(sure ? 100 * c.speedup->likely->high : percent)},
          {"bar", json(how.bar)},
          {"bar_from", json(how.from_zero ? 0 : how.bar)},
          {"bar_low", json(how.low)},
          {"bar_high", json(how.high)},
          {"speedup_text", json(timed ? report::speedup_text(d, c) : "")},
          {"fastest", json(how.fastest ? "yes" : "")},
          {"gain_text", json(how.gain ? gain_text(*how.gain) : "")},
          {"rate_label", json(how.rate_label)},
          {"relative_label", json(how.relative_label)},
          {"roofline_label", json(how.roofline_label)},
          {"intensity", json(timed && d.peak_of(c) ? roofline::intensity_of(*d.peaks, p) : NAN)},
          {"share_of_peak", json(d.share_of_peak(c).value_or(NAN))},
          {"error_text", json(report::accuracy_text(d, c))},
          {"percent_of_allowed", json(allowed > 0 && c.verdict == verdict::pass ? allowed : NAN)},
          {"watts", json(c.conditions.watts.value_or(NAN))},
          {"sm_mhz", json(median > 0 ? median : NAN)},
          {"sm_mhz_low", json(low)},
          {"sm_mhz_high", json(high)},
          {"clock_reasons", json(fmt::format("{}", fmt::join(c.conditions.clock_reasons, ", ")))}};
}

// The roofs of a result over the intensities that are plotted. Where a roof bends is drawn if that
// is near. The name stands at the right end; roofs close to each other share one.
void add_roofs(chart_rows& rows, const named_result& r,
               const std::map<kzoo_precision, double>& peaks, double left, double right) {
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
      rows.push_back(
          {{"result", json(r.label)},
           {"precision", json(precision_name(precision))},
           {"intensity", json(x)},
           {"rate", json(std::min(peak, x * memory) / 1e9)},
           {"text", json(fmt::format("{}, memory {}", text, quantity_text(memory, "B/s")))},
           {"name", json(x == *corners.rbegin() && is_last ? names : "")}});
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

std::string json(std::string_view text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '<' ? "\\u003c" : std::string(1, c);  // which would end the element in a page
  }
  return out + '"';
}

std::string json(double number) {
  return std::isfinite(number) ? fmt::format("{}", number) : "null";
}

std::string timed_text(const timing::summary& time) {
  return time_text(time.median_ms) + (time.stopped_early() ? ", stopped early" : "");
}

chart_rows cell_rows(std::span<const named_result> all, plotted_cells how) {
  chart_rows rows;
  for_each_cell(all, [&](const named_result& r, const cell& c, double number) {
    rows.push_back(cell_row(r, c, number, how[&c]));
  });
  return rows;
}

chart_rows sample_rows(std::span<const named_result> all) {
  chart_rows rows;
  for_each_cell(all, [&](const named_result&, const cell& c, double number) {
    if (!is_timed(c)) return;
    const timing::summary& time = *c.time;
    for (std::size_t i = 0; i < time.samples_ms.size(); ++i) {
      const double mhz = i < time.sm_mhz.size() ? time.sm_mhz[i] : 0;
      rows.push_back({{"cell", json(number)},
                      {"round", json(double(time.rounds[i] + 1))},
                      {"ms", fmt::format("{:.6g}", time.samples_ms[i])},
                      {"mhz", mhz > 0 ? fmt::format("{:.0f}", mhz) : "null"}});
    }
  });
  return rows;
}

chart_rows agreement_rows(std::span<const named_result> all) {
  chart_rows rows;
  for (const named_result& r : all) {
    const report::agreement_matrix m = report::agreement_of(*r.document);
    if (m.names.size() > report::kLargestMatrix) continue;
    for (std::size_t a = 0; a < m.names.size(); ++a) {
      for (std::size_t b = 0; b < m.names.size(); ++b) {
        const auto found = m.entries.find(std::minmax(a, b));
        if (a == b || found == m.entries.end()) continue;
        const report::agreed& worst = found->second;
        const bool agree = worst.agreeing == worst.pairs;
        rows.push_back({{"result", json(r.label)},
                        {"row", json(double(a + 1))},
                        {"column", json(double(b + 1))},
                        {"kernel", json(m.names[a])},
                        {"other", json(m.names[b])},
                        {"percent", json(std::min(100.0, 100 * worst.of_allowed))},
                        {"text", json(report::agreement_field(worst).text)},
                        {"kind", json(!agree                  ? "differ"
                                      : worst.of_allowed == 0 ? "bit-identical"
                                                              : "agree")}});
      }
    }
  }
  return rows;
}

chart_rows roof_rows(std::span<const named_result> all) {
  chart_rows rows;
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
    add_roofs(rows, r, peaks, left, right);
  }
  return rows;
}

chart_rows error_rows(std::span<const named_result> all) {
  chart_rows rows;
  for_each_cell(all, [&](const named_result& r, const cell& c, double number) {
    if (!c.errors) return;
    const reference::error_map& map = *c.errors;
    const std::string name = fmt::format("{}{} on {}", all.size() > 1 ? r.label + ": " : "",
                                         c.kernel.name(), problem_name(r.document->problem_of(c)));
    const auto high = double(map.rows_per_line), wide = double(map.columns_per_character);
    for (std::size_t y = 0; y < map.picture.size(); ++y) {
      for (std::size_t x = 0; x < map.picture[y].size(); ++x) {
        rows.push_back({{"cell", json(number)},
                        {"map", json(name)},
                        {"row", json(double(y) * high)},
                        {"row_end", json(double(y + 1) * high)},
                        {"column", json(double(x) * wide)},
                        {"column_end", json(double(x + 1) * wide)},
                        {"kind", json(meaning_of(map.picture[y][x]))}});
      }
    }
  });
  return rows;
}

}  // namespace kzoo::html
