#include "cli/exports.hpp"
#include "core/output.hpp"
#include "report/report.hpp"
#include "report/terminal.hpp"
#include "storage/read.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace kzoo::cli {

int report(const report_options& options) {
  const results::document d = storage::read(options.file);
  const auto print = [](std::string_view text) { write_data(stdout, text); };
  if (options.json) {
    render(d, format::json, options.shown, print);
  } else if (options.csv) {
    render(d, format::csv, options.shown, print);
  } else if (options.junit) {
    render(d, format::junit, options.shown, print);
  } else if (options.markdown) {
    render(d, format::markdown, options.shown,
           [](std::string_view text) { write_text(stdout, text); });
  } else {
    write_text(stdout, report::full_report(d, report::view_of(stdout, options.shown)));
  }
  return kOk;
}

}  // namespace kzoo::cli
