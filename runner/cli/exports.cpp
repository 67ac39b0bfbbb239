#include "cli/exports.hpp"

#include "report/csv.hpp"
#include "report/junit.hpp"
#include "report/report.hpp"
#include "results/experiment.hpp"
#include "storage/results_json.hpp"

#include "input/invalid.hpp"

#include <fmt/format.h>

namespace kzoo::cli {

void render(const results::document& d, format f, const report::shown_options& shown,
            const text_sink& out) {
  switch (f) {
    case format::json:
      return storage::write(d, out);
    case format::csv:
      return report::write_csv(d, out);
    case format::junit:
      return report::write_junit(d, out);
    case format::markdown:
      return out(report::full_report(
          d, {report::medium::markdown, report::kNoLimit, shown.simulator_times}));
  }
}

exports::exports(const output_options& options, const std::filesystem::path& source)
    : shown_(options.shown) {
  const auto add = [&](format f, const char* flag, const std::string& name) {
    if (name.empty()) return;
    if (name == "-" && on_stdout_) {
      throw input::invalid(
          fmt::format("{} -: error: stdout is taken by another export; name a file", flag));
    }
    on_stdout_ = on_stdout_ || name == "-";
    entries_.push_back({f, std::make_unique<export_file>(flag, name, source)});
  };
  add(format::json, "--json", options.json);
  add(format::csv, "--csv", options.csv);
  add(format::markdown, "--md", options.markdown);
  add(format::junit, "--junit", options.junit);
}

void exports::write(const results::document& d) {
  for (const entry& e : entries_) {
    render(d, e.format, shown_, [&](std::string_view text) { e.file->append(text); });
    e.file->finish();
  }
}

}  // namespace kzoo::cli
