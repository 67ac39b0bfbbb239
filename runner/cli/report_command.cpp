#include "cli/commands.hpp"
#include "report/report.hpp"
#include "report/terminal.hpp"
#include "results/read.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace kzoo::cli {

int report(const report_options& options) {
  const results::document d = results::read(options.file);
  const auto medium = options.markdown ? report::medium::markdown : report::medium_of(stdout);
  fmt::print("{}", report::whole(d, medium));
  return kOk;
}

}  // namespace kzoo::cli
