#include "cli/exports.hpp"

#include "report/csv.hpp"
#include "report/junit.hpp"
#include "report/report.hpp"
#include "results/experiment.hpp"
#include "storage/results_json.hpp"

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
    : files_(source), shown_(options.shown) {
  const auto add = [&](format f, const char* flag, const std::string& name) {
    if (export_file* file = files_.add(flag, name)) entries_.push_back({f, file});
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
