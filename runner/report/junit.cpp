#include "report/report.hpp"

#include <fmt/format.h>

#include <span>

namespace kzoo::report {
namespace {

using results::cell;
using results::document;

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
