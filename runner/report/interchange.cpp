#include "os/text.hpp"
#include "report/problem_table.hpp"
#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <span>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

std::string quoted(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

// Values with the names of their columns.
class csv_line {
 public:
  void add(std::string_view column, std::string_view value) {
    // A spreadsheet takes a text that begins like this for a formula.
    const bool is_formula =
        !value.empty() && std::string_view("=+-@\t\r").find(value[0]) != std::string_view::npos;
    names_.push_back(report::quoted(column));
    values_.push_back(report::quoted((is_formula ? "'" : "") + std::string(value)));
  }
  // With enough digits to be read back exactly; empty if it is not finite.
  template <class T>
  void number(std::string_view column, T value) {
    names_.push_back(report::quoted(column));
    values_.push_back(std::isfinite(double(value)) ? fmt::format("{}", value) : "");
  }
  // Empty if there is no value.
  template <class T>
  void number(std::string_view column, const std::optional<T>& value) {
    number(column, value ? double(*value) : NAN);
  }
  std::string names() const { return joined(names_, ",") + '\n'; }
  std::string values() const { return joined(values_, ",") + '\n'; }

 private:
  std::vector<std::string> names_, values_;
};

void add_problem(csv_line& l, const problem& p) {
  l.number("m", p.m);
  l.number("n", p.n);
  l.number("k", p.k);
  l.add("dtype", types_name(p.dtype));
  l.add("layout", layout_name(p.layout));
  l.number("batch", p.batch);
  l.number("batch_padding", p.batch_padding);
  l.add("batch_shared", name_of(p.batch_shared));
  l.number("alpha", p.alpha);
  l.number("beta", p.beta);
  l.add("epilogue", epilogue_name(p.epilogue));
  l.number("scale_a", p.scale_a);
  l.number("scale_b", p.scale_b);
  l.add("scale_block_a", scale_block_name(p.scale_block_a));
  l.add("scale_block_b", scale_block_name(p.scale_block_b));
  l.number("groups", double(p.groups));
  l.add("group_rows", p.groups > 0 ? name_of(p.group_rows) : "");
  l.number("padding", p.padding);
  l.add("fill", filling_name(p.data));
  l.number("seed", p.seed);
}

// Adds the time's fields; they are empty if the cell was not timed.
void add_time(csv_line& l, const document& d, const cell& c) {
  const timing::summary* const t = c.time ? &*c.time : nullptr;
  const std::optional<timing::ratio>& speedup = c.speedup;
  const bool sure = speedup && speedup->likely;
  const auto floor = d.floor_of(c);
  const double mhz = t ? timing::median_mhz(*t) : 0;
  l.number("median_ms", t ? t->median_ms : NAN);
  l.number("min_ms", t ? t->min_ms : NAN);
  l.number("spread", t ? t->spread : NAN);
  l.number("noise", t ? t->relative_half_width : NAN);
  l.number("samples", t ? static_cast<double>(t->samples_ms.size()) : NAN);
  l.add("clock", t ? name_of(t->clock) : "");
  l.add("cache", t ? name_of(t->caches) : "");
  l.add("stopped_by", t ? name_of(t->stopped) : "");
  l.number("sm_mhz", mhz > 0 ? mhz : NAN);
  l.number("throttled", t ? static_cast<double>(t->throttled) : NAN);
  l.number("gflops", d.gflops(c));
  l.number("share_of_peak", d.share_of_peak(c));
  l.number("floor_ms", floor ? floor->ms : NAN);
  l.add("floor_resource", floor ? name_of(floor->resource) : "");
  l.number("hot_median_ms", c.hot_time ? c.hot_time->median_ms : NAN);
  l.number("speedup_over_baseline", speedup ? speedup->value : NAN);
  l.number("speedup_low", sure ? speedup->likely->low : NAN);
  l.number("speedup_high", sure ? speedup->likely->high : NAN);
  l.number("end_to_end_ms", c.end_to_end ? c.end_to_end->total_ms() : NAN);
}

void add_launch(csv_line& l, const cell& c) {
  const results::launch* const main = results::main_launch(c.launches);
  l.number("registers", main ? static_cast<double>(main->registers) : NAN);
  l.number("spilled_bytes", main ? static_cast<double>(main->local_bytes) : NAN);
  l.number("shared_bytes",
           main ? static_cast<double>(main->static_shared + main->dynamic_shared) : NAN);
  l.number("occupancy", main ? main->occupancy() : NAN);
}

// Everything of a cell that has a column.
csv_line line_of(const document& d, const cell& c) {
  csv_line l;
  l.add("plugin", c.kernel.plugin);
  l.add("variant", c.kernel.variant);
  l.add("device", c.device);
  add_problem(l, d.problem_of(c));
  l.add("precision", c.declared == 0 ? "" : precision_name(c.declared));
  l.add("verdict", name_of(c.verdict));
  l.add("reason", c.reason);
  add_time(l, d, c);
  add_launch(l, c);
  l.number("max_abs_error", c.accuracy ? c.accuracy->max_abs_error : NAN);
  l.number("error_over_sqrt_k", c.accuracy ? c.accuracy->rho_over_sqrt_k : NAN);
  l.number("worst_of_allowed", c.accuracy ? c.accuracy->worst_of_allowed : NAN);
  l.add("batch_invariant", results::batch_invariance(c.findings));
  l.number("sustained_ms", c.sustained ? c.sustained->time.median_ms : NAN);
  l.number("sustained_watts", c.sustained ? c.sustained->watts : std::nullopt);
  l.number("joules", c.sustained ? c.sustained->joules() : std::nullopt);
  const problem& p = d.problem_of(c);
  l.add("problem_precision", precision_name(usual_precision(p.dtype.a)));
  l.add("problem_allows", fmt::format("{}", fmt::join(p.allow.names(), ", ")));
  for (std::size_t i = 0; i < d.experiment.published.columns.size(); ++i)
    l.number("published_ms " + d.experiment.published.columns[i].label, d.published_ms(c, i));
  return l;
}

bool is_failed(const cell& c) {
  return c.verdict == verdict::wrong || c.verdict == verdict::impossible_time;
}

// html() is for XML, too: it escapes control characters, most of which XML cannot hold.
std::string case_of(const document& d, const cell& c) {
  const std::string head =
      fmt::format("    <testcase classname=\"{}\" name=\"{} {}\"", html(c.kernel.plugin),
                  html(c.kernel.name()), html(problem_name(d.problem_of(c))));
  if (c.verdict == verdict::pass) return head + "/>\n";
  const std::string_view element = is_declined(c.verdict) ? "skipped"
                                   : is_failed(c)         ? "failure"
                                                          : "error";
  const std::string type =
      is_declined(c.verdict) ? "" : fmt::format(" type=\"{}\"", name_of(c.verdict));
  return fmt::format("{}>\n      <{}{} message=\"{}: {}\"/>\n    </testcase>\n", head, element,
                     type, name_of(c.verdict), html(c.reason));
}

struct counts {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;

  void add(const cell& c) {
    ++tests;
    failures += is_failed(c) ? 1 : 0;
    errors += is_failure(c.verdict) && !is_failed(c) ? 1 : 0;
    skipped += is_declined(c.verdict) ? 1 : 0;
  }
  std::string attributes() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", tests, failures,
                       errors, skipped);
  }
};

}  // namespace

void write_csv(const document& d, sort_key order, const text_sink& out) {
  bool first = true;
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    for (const cell* c : sorted_cells(d, i, order)) {
      const csv_line l = line_of(d, *c);
      if (std::exchange(first, false)) out(l.names());
      out(l.values());
    }
  }
}

void write_junit(const document& d, const text_sink& out) {
  counts all;
  for (const cell& c : d.cells) all.add(c);
  const std::size_t missing = d.complete() ? 0 : d.planned - d.cells.size();
  if (missing > 0) ++all.tests, ++all.errors;
  out(fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {}>\n",
                  html(title_of(d.experiment)), all.attributes()));
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    const std::span<const cell> cells = d.cells_of(i);
    if (cells.empty()) continue;
    counts of_problem;
    for (const cell& c : cells) of_problem.add(c);
    out(fmt::format("  <testsuite name=\"{}\" hostname=\"{}\" timestamp=\"{}\" {}>\n",
                    html(problem_name(d.experiment.problems[i])), html(d.host), html(d.started),
                    of_problem.attributes()));
    for (const cell& c : cells) out(case_of(d, c));
    out("  </testsuite>\n");
  }
  if (missing > 0) {
    out(
        fmt::format("  <testsuite name=\"run\" tests=\"1\" failures=\"0\" errors=\"1\" "
                    "skipped=\"0\">\n    <testcase classname=\"run\" name=\"complete\">\n      "
                    "<error type=\"interrupted\" message=\"{} of {} cells were not run\"/>\n    "
                    "</testcase>\n  </testsuite>\n",
                    missing, d.planned));
  }
  out("</testsuites>\n");
}

}  // namespace kzoo::report
