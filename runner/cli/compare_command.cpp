#include "cli/commands.hpp"
#include "compare/compare.hpp"
#include "input/diagnostics.hpp"
#include "os/output.hpp"
#include "os/text.hpp"
#include "report/comparison.hpp"
#include "report/terminal.hpp"
#include "results/experiment.hpp"
#include "storage/read.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <string_view>
#include <vector>

namespace kzoo::cli {
namespace {

using results::document;

// "3%" or "3" is 0.03.
double threshold_of(const std::string& text) {
  std::string_view number = text;
  if (number.ends_with('%')) number.remove_suffix(1);
  const double percent = number_from<double>(number).value_or(-1);
  constexpr double kMost = 1000;
  if (!(percent >= 0 && percent <= kMost)) {
    input::refuse(
        "--threshold",
        fmt::format("expected percent from 0 to {}, such as 3%, found \"{}\"", kMost, text));
  }
  return percent / 100;
}

int compare_two(const compare_options& options, const report::view& view) {
  const double threshold = threshold_of(options.threshold);
  const document before = storage::read(options.files[0]), after = storage::read(options.files[1]);
  const std::string why = compare::incomparable(before, after);
  if (!why.empty() && !options.force) {
    input::refuse(options.files[1],
                  fmt::format("cannot be compared with {}: {}; --force does it anyway",
                              options.files[0], why));
  }
  const compare::comparison found = compare::compare(before, after, threshold);
  print_to(stdout, "{}", report::comparison_text(found, view));
  return found.regressed() ? kRegression : kOk;
}

int rank_one(const compare_options& options, const report::view& view) {
  const document d = storage::read(options.files[0]);
  const auto rankings = compare::rank(d, options.baseline);
  if (rankings.empty()) {
    std::vector<std::string> kernels;
    for (const results::cell& c : d.cells)
      if (c.time) add_once(kernels, c.kernel.name());
    input::refuse("--baseline",
                  fmt::format("'{}' matches no kernel that was timed in {}\n  timed: {}",
                              options.baseline, options.files[0], fmt::join(kernels, ", ")));
  }
  print_to(stdout, "{}", report::ranking_text(d, options.baseline, rankings, view));
  return kOk;
}

}  // namespace

int compare(const compare_options& options) {
  const report::view view =
      options.markdown ? report::medium::markdown : report::view_of(stdout, {});
  const bool ranks = !options.baseline.empty();
  if (ranks != (options.files.size() == 1)) {
    input::refuse(
        "",
        "compare takes two results, OLD NEW, or one and the kernel to compare with: RESULT "
        "--baseline cublas\nTry `runner compare --help`.");
  }
  return ranks ? rank_one(options, view) : compare_two(options, view);
}

}  // namespace kzoo::cli
