#include "html/tables.hpp"

#include "os/number_text.hpp"
#include "report/agreement.hpp"
#include "report/csv.hpp"
#include "report/problem_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace kzoo::html {
namespace {

using report::csv_line;
using results::cell;
using results::document;

// Lines below each other, with the names of the columns once.
class csv_table {
 public:
  void add(const csv_line& l) {
    if (text_.empty()) text_ = l.names();
    text_ += l.values();
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Calls f with each cell, its result and its number in the page.
void for_each_cell(
    std::span<const named_result> all,
    const std::function<void(const named_result&, const cell&, std::size_t number)>& f) {
  std::size_t number = 0;
  for (const named_result& r : all)
    for (const cell& c : r.document->cells) f(r, c, number++);
}

bool is_timed(const cell& c) { return c.time && c.time->clock != timing::clock::simulator; }

// The fastest variant of each plugin on each problem, with its gain over the plugin before it.
using gains = std::map<const cell*, std::optional<double>>;
gains gains_of(const document& d) {
  gains found;
  for (std::size_t problem = 0; problem < d.experiment.problems.size(); ++problem) {
    std::vector<const cell*> fastest;  // in the order of the plugins
    for (const cell& c : d.cells_of(problem)) {
      if (!is_timed(c)) continue;
      const auto known = std::ranges::find_if(
          fastest, [&](const cell* f) { return f->kernel.plugin == c.kernel.plugin; });
      if (known == fastest.end()) {
        fastest.push_back(&c);
      } else if (c.time->median_ms < (*known)->time->median_ms) {
        *known = &c;
      }
    }
    const cell* before = nullptr;
    for (const cell* c : fastest) {
      std::optional<double>& gain = found[c];
      const cell* baseline = d.baseline_of(*c);
      const bool is_baseline = baseline != nullptr && baseline->kernel.plugin == c->kernel.plugin;
      if (is_baseline || c->time->clock != timing::clock::gpu) continue;
      if (before != nullptr) gain = before->time->median_ms / c->time->median_ms;
      before = c;
    }
  }
  return found;
}

// "44.8x", "+3.1 %", "−2.0 %".
std::string gain_text(double gain) {
  if (gain >= 2) return number_text(gain) + "x";
  const double percent = 100 * (gain - 1);
  return fmt::format("{}{:.1f} %", percent < 0 ? "−" : "+", std::abs(percent));
}

void add_plotted(csv_line& l, const document& d, const cell& c, const gains& fastest) {
  const problem& p = d.problem_of(c);
  l.number("size", std::cbrt(double(p.m) * double(p.n) * double(p.k)));
  const double gflops = is_timed(c) ? d.gflops(c).value_or(NAN) : NAN;
  const double half =
      c.time && !std::isnan(c.time->relative_half_width) ? c.time->relative_half_width : 0;
  l.number("rate", gflops);
  l.number("rate_low", gflops / (1 + half));
  l.number("rate_high", gflops / (1 - half));
  l.add("rate_text", std::isnan(gflops) ? "" : number_text(gflops));
  l.add("time_text", is_timed(c) ? time_text(c.time->median_ms) : "");
  // Without an interval, that of the figure alone.
  const bool sure = c.speedup && c.speedup->likely;
  l.number("speedup_from", sure ? c.speedup->likely->low : c.speedup ? c.speedup->value : NAN);
  l.number("speedup_to", sure ? c.speedup->likely->high : c.speedup ? c.speedup->value : NAN);
  l.add("speedup_text", is_timed(c) ? report::speedup_text(d, c) : "");
  const cell* baseline = d.baseline_of(c);
  l.add("baseline", baseline == &c ? "yes" : "");
  const auto step = fastest.find(&c);
  const bool is_step = step != fastest.end();
  l.add("fastest", is_step ? "yes" : "");
  l.add("gain_text", is_step && step->second ? gain_text(*step->second) : "");
  l.number("intensity", d.peaks && is_timed(c) ? roofline::intensity_of(*d.peaks, p) : NAN);
  l.add("error_text", report::accuracy_text(d, c));
  const results::conditions& k = c.conditions;
  l.number("watts", k.watts.value_or(NAN));
  l.number("celsius", k.celsius.value_or(NAN));
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
  std::string reasons;
  for (const std::string& reason : k.clock_reasons)
    reasons += (reasons.empty() ? "" : ", ") + reason;
  l.add("clock_reasons", reasons);
}

// Where a roof of this precision begins, bends and ends, over the intensities that are plotted.
void add_roof(csv_table& t, const named_result& r, kzoo_precision precision, double left,
              double right) {
  const roofline::peaks& peaks = *r.document->peaks;
  const auto memory = roofline::memory_rate(peaks), compute = peaks.peak(precision);
  if (!memory || !compute) return;
  const double bend = *compute / *memory;
  for (const double x : {std::min(left, bend / 8), bend, std::max(right, 8 * bend)}) {
    csv_line l;
    l.add("result", r.label);
    l.add("precision", precision_name(precision));
    l.number("intensity", x);
    l.number("rate", std::min(*compute, x * *memory) / 1e9);
    l.add("text", fmt::format("{}: {}, memory {}", precision_name(precision),
                              quantity_text(*compute, "FLOP/s"), quantity_text(*memory, "B/s")));
    t.add(l);
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

void for_each_line(std::string_view text, const std::function<void(std::string_view)>& f) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    f(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string cells_table(std::span<const named_result> all) {
  csv_table t;
  std::map<const document*, gains> steps;
  for (const named_result& r : all) steps[r.document] = gains_of(*r.document);
  for_each_cell(all, [&](const named_result& r, const cell& c, std::size_t number) {
    const document& d = *r.document;
    csv_line l;
    l.number("cell", number);
    l.add("result", r.label);
    l.add("kernel", c.kernel.name());
    const std::string problem = problem_name(d.problem_of(c));
    l.add("problem", problem);
    l.add("family",
          problem.substr(problem.find(' ') + 1));  // a problem's name starts with its shape
    add_plotted(l, d, c, steps[&d]);
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
    if (!d.peaks) continue;
    std::set<kzoo_precision> precisions;
    double left = INFINITY, right = 0;
    for (const cell& c : d.cells) {
      if (!is_timed(c)) continue;
      precisions.insert(c.declared);
      const double x = roofline::intensity_of(*d.peaks, d.problem_of(c));
      left = std::min(left, x / 4);
      right = std::max(right, 4 * x);
    }
    for (const kzoo_precision p : precisions) add_roof(t, r, p, left, right);
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
