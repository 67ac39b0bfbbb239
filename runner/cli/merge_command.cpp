#include "cluster/merge.hpp"

#include "cli/commands.hpp"
#include "cli/exports.hpp"
#include "cluster/slurm.hpp"
#include "cluster/submission.hpp"
#include "os/output.hpp"
#include "os/printable.hpp"
#include "report/page.hpp"
#include "report/report.hpp"
#include "report/terminal.hpp"
#include "storage/read.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;
using cluster::progress;
using results::document;

// Shards with stored results; `incomplete` gets the numbers of shards that lack cells.
std::vector<cluster::shard_results> read_shards(const cluster::submission& s,
                                                std::vector<std::size_t>& incomplete) {
  std::vector<cluster::shard_results> shards;
  for (std::size_t i = 0; i < s.shards; ++i) {
    const fs::path journal = s.journal_of(i);
    std::error_code ignored;
    if (!fs::exists(journal, ignored) || !storage::has_head(journal)) {
      print_to(stderr, "shard {} has stored nothing\n", i);
      incomplete.push_back(i);
      continue;
    }
    shards.push_back({journal.string(), storage::read_journal_file(journal).results});
    if (!shards.back().results.complete()) incomplete.push_back(i);
  }
  return shards;
}

void print_missing(const cluster::submission& s, const std::vector<std::string>& missing,
                   const std::vector<std::size_t>& incomplete) {
  for (const std::string& words : missing) print_to(stderr, "missing: {}\n", words);
  print_to(
      stderr,
      "`runner status {0}` says why; to run what is missing:\n  sbatch --array={1} {0}/shards.sh\n"
      "and, when that has ended, runner merge {0}\n",
      shell_word(s.folder.string()), fmt::join(incomplete, ","));
}

// In merged.json, or in merged-DEVICE.json.
void store(const document& d, const cluster::submission& s, const std::string& device) {
  const fs::path name = s.folder / fmt::format("merged{}.json", device);
  export_file file("--json", name.string());
  render(d, format::json, {}, [&](std::string_view text) { file.append(text); });
  file.finish();
  print_to(stdout, "stored in {}\n", name.string());
}

}  // namespace

int merge(const merge_options& options) {
  const cluster::submission s = cluster::read_submission(options.folder);
  std::vector<std::size_t> incomplete;
  std::vector<cluster::shard_results> shards = read_shards(s, incomplete);
  if (shards.empty()) {
    print_to(stderr, "error: no shard has stored any results; runner status {} says why\n",
             shell_word(s.folder.string()));
    return kSomeCellFailed;
  }
  const cluster::merged merged = cluster::merge(std::move(shards), options.by_device);
  int code = merged.missing.empty() ? kOk : kSomeCellFailed;
  for (const document& d : merged.by_device) {
    write_text(stdout, report::full_report(d, report::view_of(stdout, options.shown)));
    code = std::max(code, results::exit_code(d));
  }
  if (!merged.missing.empty()) print_missing(s, merged.missing, incomplete);
  for (const document& d : merged.by_device) {
    const bool is_only = merged.by_device.size() == 1;
    store(d, s, is_only ? "" : "-" + file_name_from(cluster::device_words(d.device)));
  }
  return code;
}

int status(const status_options& options) {
  const cluster::submission s = cluster::read_submission(options.folder);
  const cluster::known_job known = cluster::ask_about(s.job);
  if (!known.trouble.empty()) print_to(stderr, "note: {}\n", known.trouble);
  const auto all = cluster::status_of(s, known);
  report::table t;
  constexpr auto kLeft = report::table::align::left;
  const auto has_failed = [](const cluster::shard_status& each) {
    return each.progress == progress::failed;
  };
  for (const cluster::shard_status& each : all) {
    const auto style = has_failed(each) ? report::style::bad : report::style::plain;
    t.add_entries(
        {{"shard", std::to_string(t.rows())},
         {"state", {std::string(name_of(each.progress)), style}, kLeft},
         {"cells", each.planned == 0 ? "" : fmt::format("{}/{}", each.cells, each.planned)},
         {"node", each.node, kLeft},
         {"why", each.why, kLeft}});
  }
  report::page page(report::view_of(stdout, {}));
  page.line("Shards", report::style::bold, fmt::format(" of job {}", s.job));
  page.add(t);
  page.end_section();
  write_text(stdout, page.take());
  return std::ranges::any_of(all, has_failed) ? kSomeCellFailed : kOk;
}

}  // namespace kzoo::cli
