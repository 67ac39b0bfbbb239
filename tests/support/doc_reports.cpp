#include "support/doc_reports.hpp"

#include "core/kernel_name.hpp"
#include "core/verdict.hpp"
#include "report/problem_table.hpp"
#include "report/report.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace kzoo::test {
namespace {

using results::document;

using path = std::filesystem::path;

std::string full(const document& d, const path&) {
  return report::full_report(d, report::medium::markdown);
}

// When and with what the results were measured.
std::string measured(const document& d) {
  return fmt::format("{}: {}, driver {}, CUDA {}.\n\n", d.started.substr(0, 10), d.device.name,
                     d.device.fact("driver"), d.device.fact("runtime"));
}

// The table of each problem, without the remarks below it.
std::string tables(const document& d, const path&) {
  report::page p(report::medium::markdown);
  for (std::size_t i = 0; i < d.experiment.problems.size(); ++i) {
    const report::problem_rows rows = report::problem_table(d, i, p.view());
    if (rows.times.rows() == 0) continue;
    p.line(problem_name(d.experiment.problems[i]), report::style::bold);
    p.add(rows.times);
    p.end_section();
  }
  return measured(d) + p.take();
}

std::string pivot(const document& d, const results::pivot& what) {
  report::page p(report::medium::markdown);
  report::add_pivot(p, d, what);
  return p.take();
}
template <results::pivot_value kValue, results::pivot_axis kRows, results::pivot_axis kColumns>
std::string figures(const document& d, const path&) {
  return measured(d) + pivot(d, {kRows, kColumns, kValue});
}
// The largest errors, without the Frobenius errors.
template <results::pivot_axis kAxis>
std::string errors_by(const document& d, const path&) {
  const std::string both =
      pivot(d, {results::pivot_axis::kernel, kAxis, results::pivot_value::error});
  std::string kept;
  for (std::size_t from = 0; from < both.size();) {
    const std::size_t end = std::min(both.find("\n\n**", from), both.size() - 2) + 2;
    const std::string block = both.substr(from, end - from);
    if (block.find("relative Frobenius error by") == std::string::npos) kept += block;
    from = end;
  }
  if (kept.ends_with("\n\n")) kept.pop_back();
  return kept;
}

// The kernels that `selectors` match, separated by commas, and without what they declined.
document only(document d, const std::string& selectors) {
  std::erase_if(d.cells, [&](const results::cell& c) {
    std::istringstream list(selectors);
    bool selected = false;
    for (std::string one; std::getline(list, one, ',');)
      selected = selected || matches(one, c.kernel.plugin, c.kernel.variant);
    return !selected || is_declined(c.verdict);
  });
  return d;
}

// A chart of report --svg, which tests/cli/html_svg.cpp keeps next to the results.
std::string picture(const document& d, const path& file, const std::string& chart,
                    const std::string& what) {
  const std::string base =
      (file.parent_path().parent_path() / "charts" / file.stem()).string() + "." + chart;
  return "<picture>\n  <source media=\"(prefers-color-scheme: dark)\" srcset=\"" + base +
         "-dark.svg\">\n  <img alt=\"" + what + ": " + d.experiment.title + ", " + d.device.name +
         "\" src=\"" + base + "-light.svg\">\n</picture>\n";
}
std::string speed_chart(const document& d, const path& file) {
  return picture(d, file, "speed", "Speed of each step beside the baseline");
}
std::string sizes_chart(const document& d, const path& file) {
  return picture(d, file, "relative", "Speed by size, beside the baseline");
}

// The beginning of a marker, and the function that renders it.
struct marker {
  std::string_view opens;
  std::string (*rendered)(const document&, const path& file);
};
constexpr std::array kMarkers{
    marker{"<!-- report: ", &full},
    marker{"<!-- speed chart: ", &speed_chart},
    marker{"<!-- sizes chart: ", &sizes_chart},
    marker{"<!-- tables: ", &tables},
    marker{"<!-- speedups by problem: ",
           &figures<results::pivot_value::speedup, results::pivot_axis::problem,
                    results::pivot_axis::kernel>},
    marker{"<!-- speedups by kernel: ",
           &figures<results::pivot_value::speedup, results::pivot_axis::kernel,
                    results::pivot_axis::shape>},
    marker{"<!-- speeds by kernel: ",
           &figures<results::pivot_value::gflops, results::pivot_axis::kernel,
                    results::pivot_axis::shape>},
    marker{"<!-- times by problem: ",
           &figures<results::pivot_value::ms, results::pivot_axis::problem,
                    results::pivot_axis::kernel>},
    marker{"<!-- errors by n: ", &errors_by<results::pivot_axis::n>},
    marker{"<!-- errors by k: ", &errors_by<results::pivot_axis::k>},
};

// The first marker from `at` on. A marker away from the left margin is only text.
std::size_t find(const marker& m, const std::string& document, std::size_t at) {
  std::size_t open = document.find(m.opens, at);
  while (open != std::string::npos && open > 0 && document[open - 1] != '\n') {
    open = document.find(m.opens, open + 1);
  }
  return open;
}

}  // namespace

std::string with_reports(const std::string& document, const std::filesystem::path& folder) {
  constexpr std::string_view kOpened = " -->", kClose = "<!-- /report -->";
  std::string out;
  std::size_t at = 0;
  for (;;) {
    const auto from_here = [&](const marker& m) { return find(m, document, at); };
    const marker& next = *std::ranges::min_element(kMarkers, {}, from_here);
    const std::size_t open = from_here(next);
    if (open == std::string::npos) return out + document.substr(at);
    const std::size_t name = open + next.opens.size();
    const std::size_t name_end = document.find(kOpened, name);
    const std::size_t close = document.find(kClose, name);
    if (close == std::string::npos || name_end > close) {
      throw std::runtime_error("a report in the document has no <!-- /report -->");
    }
    const std::string named = document.substr(name, name_end - name);
    const std::size_t of = named.find(" of ");
    const std::string file = named.substr(0, of);
    const results::document stored = storage::read(folder / file);
    out +=
        document.substr(at, name_end + kOpened.size() - at) + '\n' +
        next.rendered(of == std::string::npos ? stored : only(stored, named.substr(of + 4)), file);
    at = close;
  }
}

}  // namespace kzoo::test
