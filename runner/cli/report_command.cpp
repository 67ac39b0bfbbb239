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
  const std::string text = options.json       ? rendered(d, format::json)
                           : options.csv      ? rendered(d, format::csv)
                           : options.markdown ? rendered(d, format::markdown)
                                              : report::full_report(d, report::medium_of(stdout));
  if (options.json || options.csv) {
    write_data(stdout, text);
  } else {
    write_text(stdout, text);
  }
  return kOk;
}

}  // namespace kzoo::cli
