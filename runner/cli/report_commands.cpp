#include "cli/commands.hpp"
#include "cli/output_files.hpp"
#include "compare/compare.hpp"
#include "html/page.hpp"
#include "input/diagnostics.hpp"
#include "os/output.hpp"
#include "os/places.hpp"
#include "os/text.hpp"
#include "report/focus.hpp"
#include "report/report.hpp"
#include "report/terminal.hpp"
#include "results/experiment.hpp"
#include "storage/journal.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

struct earlier_result {
  fs::path file;
  results::document results;
};

constexpr std::size_t kMostRead = 20;  // a journal may take a second to read

std::vector<fs::path> last_written_beside(const fs::path& file) {
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  std::error_code ignored;
  for (const fs::path& other : paths_in(file.has_parent_path() ? file.parent_path() : ".")) {
    const bool named = other.extension() == ".json" || other.extension() == ".jsonl";
    if (!named || !fs::is_regular_file(other, ignored) || fs::equivalent(other, file, ignored))
      continue;
    all.emplace_back(fs::last_write_time(other, ignored), other);
  }
  std::ranges::sort(all, std::ranges::greater{});
  std::vector<fs::path> files;
  for (std::size_t i = 0; i < std::min(all.size(), kMostRead); ++i) files.push_back(all[i].second);
  return files;
}

bool has_run_before(const results::document& then, const results::document& now,
                    const std::string& plugin) {
  if (then.started >= now.started || compare::incomparable(then, now)) return false;
  const compare::comparison both = compare::compare(then, now, 0);
  return std::ranges::any_of(both.pairs, [&](const compare::pair& p) {
    return p.before != nullptr && p.after != nullptr && p.after->kernel.plugin == plugin;
  });
}

// The newest result next to `file` that began before `now`, on a comparable device, with a kernel
// of the plugin and a problem in common. Looks only at the files written last.
std::optional<earlier_result> find_earlier(const fs::path& file, const results::document& now,
                                           const std::string& plugin) {
  std::optional<earlier_result> newest;
  for (const fs::path& other : last_written_beside(file)) {
    try {
      results::document then = storage::read(other);
      if (newest && then.started <= newest->results.started) continue;
      if (has_run_before(then, now, plugin)) newest = {other, std::move(then)};
    } catch (const input::invalid&) {
      // Only its name suggests a result.
    }
  }
  return newest;
}

// Names that distinguish the results, as far as possible.
std::vector<std::string> labels_of(const std::vector<results::document>& all) {
  const auto name_of = [](const results::document& d, bool with_time) {
    return report::title_of(d.experiment) + ", " + d.device.name +
           (with_time ? ", " + d.started : "");
  };
  std::vector<std::string> labels;
  for (const results::document& d : all) {
    const auto same = std::ranges::count_if(all, [&](const results::document& other) {
      return name_of(other, false) == name_of(d, false);
    });
    std::string label = name_of(d, same > 1);
    for (int copy = 2; std::ranges::find(labels, label) != labels.end(); ++copy)
      label = fmt::format("{} ({})", name_of(d, true), copy);
    labels.push_back(std::move(label));
  }
  return labels;
}

struct labelled_results {
  std::vector<results::document> all;
  std::vector<std::string> labels;
  std::optional<earlier_result> before;  // for a single result about one plugin

  explicit labelled_results(const std::vector<std::string>& files) {
    for (const std::string& file : files) all.push_back(storage::read(file));
    labels = labels_of(all);
  }
  void look_for_earlier(const std::string& file) {
    const std::string subject = report::focus_of(all.front()).subject;
    if (!subject.empty()) before = find_earlier(file, all.front(), subject);
  }
  std::vector<html::named_result> named() const {
    std::vector<html::named_result> named;
    const auto steps = ladder_steps();
    for (std::size_t i = 0; i < all.size(); ++i)
      named.push_back({labels[i], &all[i], nullptr, "", steps});
    if (before) {
      named.front().before = &before->results;
      named.front().before_file = before->file.filename().string();
    }
    return named;
  }
};

int write_html(const report_options& options) {
  labelled_results results(options.files);
  if (results.all.size() == 1) results.look_for_earlier(options.files.front());
  output_files files({options.files.begin(), options.files.end()});
  output_file* const out = files.add("--html", options.html);
  const auto library = html::find_library(charts_folders());
  if (!library) {
    print_to(stderr,
             "note: the page has no charts, only the tables: Vega-Lite is not here; "
             "./zoo setup --charts fetches it\n");
  }
  html::write_page(results.named(), library, options.shown.simulator_times,
                   [&](std::string_view text) { out->append(text); });
  out->finish();
  return kOk;
}

int write_svg(const report_options& options) {
  const labelled_results results(options.files);
  const auto library = html::find_library(charts_folders());
  if (!library) {
    input::refuse("--svg",
                  "Vega-Lite, which draws the charts, is not here; ./zoo setup --charts fetches "
                  "it, and --html FILE writes a page with the tables without it");
  }
  const std::string files = html::write_svg(results.named(), *library, *options.svg);
  write_text(stdout, files.empty() ? "there is nothing to draw\n" : files);
  return kOk;
}

using results::document;

// "3%" or "3" is 0.03.
double threshold_of(const std::string& text) {
  std::string_view number = text;
  if (number.ends_with('%')) number.remove_suffix(1);
  const double percent = number_from<double>(number).value_or(-1);
  constexpr double kMost = 1000;
  if (!(percent >= 0 && percent <= kMost)) {
    input::refuse("--threshold", "expected percent from 0 to {}, such as 3%, found \"{}\"", kMost,
                  text);
  }
  return percent / 100;
}

int compare_two(const compare_options& options, const report::view& view) {
  const double threshold = threshold_of(options.threshold);
  const document before = storage::read(options.files[0]), after = storage::read(options.files[1]);
  const auto why = compare::incomparable(before, after);
  if (why && !options.force) {
    input::refuse(options.files[1], "cannot be compared with {}: {}; --force does it anyway",
                  options.files[0], *why);
  }
  const compare::comparison both = compare::compare(before, after, threshold);
  print_to(stdout, "{}", report::comparison_text(both, view));
  return both.regressed() ? kRegression : kOk;
}

int rank_one(const compare_options& options, const report::view& view) {
  const document d = storage::read(options.files[0]);
  const auto rankings = compare::rank(d, *options.baseline);
  if (rankings.empty()) {
    std::vector<std::string> kernels;
    for (const results::cell& c : d.cells)
      if (c.time) add_once(kernels, c.kernel.name());
    input::refuse("--baseline", "'{}' matches no kernel that was timed in {}\n  timed: {}",
                  *options.baseline, options.files[0], fmt::join(kernels, ", "));
  }
  print_to(stdout, "{}", report::ranking_text(d, *options.baseline, rankings, view));
  return kOk;
}

// The number of "shard-N.jsonl"; nothing for another file.
std::optional<std::size_t> shard_number(const fs::path& file) {
  const std::string name = file.stem().string();
  if (file.extension() != ".jsonl" || !name.starts_with("shard-")) return std::nullopt;
  return number_from<std::size_t>(std::string_view(name).substr(6));
}

std::map<std::size_t, fs::path> journals_of_shards(const std::string& folder) {
  std::map<std::size_t, fs::path> journals;
  std::error_code fault;
  for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault)) {
    const auto number = shard_number(at->path());
    if (number && !journals.emplace(*number, at->path()).second)
      input::refuse(folder, "has two journals of shard {}", *number);
  }
  if (fault || journals.empty())
    input::refuse(folder, fault ? fault.message() : "has no journals of shards: shard-0.jsonl …");
  return journals;
}

// Stores the document in merged.json, or in merged-DEVICE.json.
void store(const document& d, const fs::path& folder, const std::string& device) {
  const fs::path name = folder / fmt::format("merged{}.json", device);
  output_file file("--json", name.string());
  render(d, format::json, {}, [&](std::string_view text) { file.append(text); });
  file.finish();
  print_to(stdout, "stored in {}\n", name.string());
}

}  // namespace

int report(const report_options& options) {
  if (options.html) return write_html(options);
  if (options.svg) return write_svg(options);
  if (options.files.size() > 1) {
    input::refuse(options.files[1],
                  "one result at a time; --html FILE puts several into a page, and `runner compare "
                  "OLD NEW` says what has changed");
  }
  const results::document d = storage::read(options.files.front());
  if (options.as) {
    render(d, *options.as, options.shown, [](std::string_view text) { write_text(stdout, text); });
  } else {
    write_text(stdout, report::full_report(d, report::view_of(stdout, options.shown)));
  }
  return kOk;
}

int compare(const compare_options& options) {
  const report::view view =
      options.markdown ? report::medium::markdown : report::view_of(stdout, {});
  const bool ranks = options.baseline.has_value();
  if (ranks != (options.files.size() == 1)) {
    input::refuse(
        "",
        "compare takes two results, OLD NEW, or one and the kernel to compare with: RESULT "
        "--baseline cublas\nTry `runner compare --help`.");
  }
  return ranks ? rank_one(options, view) : compare_two(options, view);
}

int merge(const merge_options& options) {
  std::vector<compare::shard_results> shards;
  for (const auto& [number, journal] : journals_of_shards(options.folder)) {
    if (storage::has_head(journal))
      shards.push_back({journal.string(), storage::read_journal_file(journal).results});
    else
      print_to(stderr, "shard {} has stored nothing\n", number);
  }
  if (shards.empty()) {
    print_to(stderr, "error: no shard has stored any results\n");
    return kSomeCellFailed;
  }
  const compare::merged merged = compare::merge(std::move(shards), options.by_device);
  int code = merged.missing.empty() ? kOk : kSomeCellFailed;
  for (const document& d : merged.by_device) {
    write_text(stdout, report::full_report(d, report::view_of(stdout, options.shown)));
    code = std::max(code, results::exit_code(d));
  }
  for (const std::string& words : merged.missing) print_to(stderr, "missing: {}\n", words);
  for (const document& d : merged.by_device) {
    const bool is_only = merged.by_device.size() == 1;
    store(d, options.folder, is_only ? "" : "-" + file_name_from(compare::device_words(d.device)));
  }
  return code;
}

}  // namespace kzoo::cli
