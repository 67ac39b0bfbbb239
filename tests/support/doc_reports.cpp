#include "support/doc_reports.hpp"

#include "report/pivot.hpp"
#include "report/report.hpp"
#include "storage/read.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

namespace kzoo::test {
namespace {

using results::document;

using path = std::filesystem::path;

std::string full(const document& d, const path&) {
  return report::full_report(d, report::medium::markdown);
}

std::string pivot(const document& d, const results::pivot& what) {
  report::page p(report::medium::markdown);
  report::add_pivot(p, d, what);
  return p.take();
}
template <results::pivot_axis kAxis>
std::string errors_by(const document& d, const path&) {
  return pivot(d, {results::pivot_axis::kernel, kAxis, results::pivot_value::error});
}
template <results::pivot_axis kRows, results::pivot_axis kColumns>
std::string speedups(const document& d, const path&) {
  return pivot(d, {kRows, kColumns, results::pivot_value::speedup});
}

// A chart of report --svg, as tests/cli/html_svg.cpp keeps it beside the results.
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

// How a marker begins, and what it stands for.
struct marker {
  std::string_view opens;
  std::string (*rendered)(const document&, const path& file);
};
constexpr std::array kMarkers{
    marker{"<!-- report: ", &full},
    marker{"<!-- speed chart: ", &speed_chart},
    marker{"<!-- sizes chart: ", &sizes_chart},
    marker{"<!-- speedups by problem: ",
           &speedups<results::pivot_axis::problem, results::pivot_axis::kernel>},
    marker{"<!-- speedups by kernel: ",
           &speedups<results::pivot_axis::kernel, results::pivot_axis::shape>},
    marker{"<!-- errors by n: ", &errors_by<results::pivot_axis::n>},
    marker{"<!-- errors by k: ", &errors_by<results::pivot_axis::k>},
};

// The first place from `at` on. Not at the left margin, a marker is only mentioned in the text.
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
    const std::string file = document.substr(name, name_end - name);
    out += document.substr(at, name_end + kOpened.size() - at) + '\n' +
           next.rendered(storage::read(folder / file), file);
    at = close;
  }
}

}  // namespace kzoo::test
