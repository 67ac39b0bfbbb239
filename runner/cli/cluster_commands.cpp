#include "cli/commands.hpp"
#include "cli/exports.hpp"
#include "cluster/submission.hpp"
#include "input/diagnostics.hpp"
#include "os/files.hpp"
#include "os/output.hpp"
#include "os/posix.hpp"
#include "os/text.hpp"
#include "report/page.hpp"
#include "report/report.hpp"
#include "report/terminal.hpp"
#include "setup/plan.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace kzoo::cli {
namespace {

namespace fs = std::filesystem;

// Rejects what may differ between nodes, before it fails there.
void check_for_nodes(const results::experiment& e, const submit_options& options) {
  if (e.device == "auto") {
    input::refuse(
        "--device",
        "name it, cuda or cpu: with \"auto\" a node without a GPU would run the simulator");
  }
  if (!options.over.problems.empty())
    input::refuse("--problems", "each shard gets its own; leave the others out of the experiment");
  std::vector<selector> named = e.plugins;
  if (e.baseline) named.push_back(*e.baseline);
  for (const selector& s : named) {
    const auto file = as_file(s.text);
    if (!file || fs::path(file->path).is_absolute()) continue;
    input::refuse(to_string(s.where),
                  fmt::format("{} is looked up beside the experiment, of which the shards have a "
                              "copy; write its whole path, or name it with --plugins",
                              input::in_quotes(s.text)));
  }
  constexpr std::array<std::string_view, 13> kOwn{
      "-a",     "--array",    "-o", "--output", "-e",         "--error", "--open-mode",
      "--wrap", "--parsable", "-W", "--wait",   "--clusters", "-M"};
  for (const std::string& word : options.sbatch_arguments) {
    // The value may follow a short option directly: -a0-3.
    const bool is_short = word.starts_with('-') && !word.starts_with("--");
    const std::string name = is_short ? word.substr(0, 2) : word.substr(0, word.find('='));
    if (std::ranges::find(kOwn, name) == kOwn.end()) continue;
    input::refuse(word,
                  "is an option of sbatch that `runner submit` sets itself, or cannot follow: the "
                  "number of shards is --shards, the logs are DIR/shard-N.log");
  }
}

fs::path new_folder(const submit_options& options, const results::experiment& e) {
  if (!options.folder.empty()) return fs::absolute(options.folder).lexically_normal();
  std::string when = utc_now();
  std::erase(when, 'Z');
  const fs::path name = fs::absolute(fmt::format("results/{}_{}_slurm", file_name_from(when),
                                                 file_name_from(e.file.stem().string())));
  fs::path folder = name;
  for (int i = 2; fs::exists(folder); ++i) folder = fmt::format("{}_{}", name.string(), i);
  return folder;
}

// A shard's options for `runner run`, besides its problems and its journal.
std::vector<std::string> run_options_of(const results::experiment& e,
                                        const submit_options& options) {
  std::vector<std::string> words{"--device", e.device};
  const auto add = [&](const char* flag, const std::vector<std::string>& list,
                       const char* between) {
    if (list.empty()) return;
    words.push_back(fmt::format("{}={}", flag, fmt::join(list, between)));
  };
  const results::overrides& over = e.overridden;
  add("--plugins", over.plugins, ",");
  add("--sizes", over.sizes, ",");
  add("--layouts", over.layouts, ",");
  add("--batches", over.batches, ",");
  add("--build-args", over.build_args, " ");
  if (over.tier) words.insert(words.end(), {"--verify", *over.tier});
  for (const std::string& folder : options.plugin_folders)
    words.insert(words.end(), {"--plugin-dir", fs::absolute(folder).string()});
  if (options.show_errors) words.emplace_back("--show-errors");
  return words;
}

cluster::batch batch_of(const results::experiment& e, const submit_options& options) {
  cluster::batch b;
  b.folder = new_folder(options, e);
  b.runner = fs::read_symlink("/proc/self/exe");
  b.experiment = e.file.filename().string();
  const std::string path = (b.folder / b.experiment).string();
  if (printable(path) != path) input::refuse(path, "has characters that no batch script can hold");
  b.options = run_options_of(e, options);
  for (const auto& numbers : cluster::split(e.problems, options.shards))
    b.problems.push_back(cluster::numbers_text(numbers));
  if (!options.setup.empty()) b.setup = input::read_file(options.setup);
  b.slurm_options = options.sbatch_arguments;
  b.shares_nodes = options.shares_nodes;
  b.by_device = options.by_device;
  return b;
}

void print_how_to_go_on(const cluster::submission& s) {
  const std::string folder = shell_word(s.folder.string());
  print_to(stdout, "  runner status {}\n  runner merge {}   joins what there is\n  scancel {} {}\n",
           folder, folder, s.job, s.merge_job);
}

// If Slurm refuses it, the shards run all the same.
void submit_merge(const cluster::batch& b, cluster::submission& s) try {
  std::vector<std::string> options = cluster::merge_options(b);
  options.insert(options.end(), {"--dependency=afterany:" + s.job, "--kill-on-invalid-dep=yes"});
  s.merge_job = cluster::submit(b.folder / "merge.sh", options);
} catch (const input::invalid& refused) {
  print_to(stderr,
           "{}\nwarning: the shards are submitted, and the job that merges them is not; when they "
           "have ended: runner merge {}\n",
           refused.what(), shell_word(b.folder.string()));
}

// Writes the jobs' files and submits the shards. Leaves nothing behind if Slurm refuses them.
std::string submit_shards(const cluster::batch& b, const std::string& experiment_text) {
  const bool was_there = fs::exists(b.folder);
  cluster::make_shared_folder(b.folder);
  const std::vector<fs::path> written{b.folder / b.experiment, b.folder / "shards.sh",
                                      b.folder / "merge.sh"};
  try {
    write_file(written[0], experiment_text);
    write_file(written[1], cluster::shards_script(b));
    write_file(written[2], cluster::merge_script(b));
    return cluster::submit(written[1], cluster::shards_options(b));
  } catch (const interrupt::interrupted&) {
    print_to(stderr,
             "note: `squeue --me` says whether Slurm has taken the shards; what they need is "
             "in {}\n",
             b.folder.string());
    throw;
  } catch (...) {
    std::error_code ignored;
    for (const fs::path& file : written) fs::remove(file, ignored);
    if (!was_there) fs::remove(b.folder, ignored);
    throw;
  }
}

// Prints the job's id if anything fails once the shards are submitted.
cluster::submission submit_from(const cluster::batch& b, const std::string& experiment_text) {
  cluster::submission s{b.folder, b.problems.size(), submit_shards(b, experiment_text), ""};
  try {
    cluster::write(s);
    submit_merge(b, s);
    cluster::write(s);
  } catch (...) {
    print_to(stderr, "warning: the shards are submitted as job {}:\n", s.job);
    print_how_to_go_on(s);
    throw;
  }
  return s;
}

std::string progress_line(const std::vector<cluster::shard_status>& all) {
  std::vector<std::string> counts;
  std::size_t cells = 0;
  for (const cluster::progress p : kAllOf<cluster::progress>) {
    const auto count = std::ranges::count(all, p, &cluster::shard_status::progress);
    if (count > 0) counts.push_back(fmt::format("{} {}", count, name_of(p)));
  }
  for (const auto& s : all) cells += s.cells;
  return fmt::format("{} shards: {}; {} cells", all.size(), fmt::join(counts, ", "), cells);
}

bool is_over(const std::vector<cluster::shard_status>& all) {
  return std::ranges::all_of(all, [](const cluster::shard_status& s) {
    return s.progress == cluster::progress::done || s.progress == cluster::progress::failed;
  });
}

// Waits until no shard will run any more. Prints a line for each change.
void wait_for_end(const cluster::submission& s) {
  constexpr int kFirstMs = 500, kLongestMs = 30000;
  std::string shown;
  for (int pause = kFirstMs;; pause = std::min(2 * pause, kLongestMs)) {
    const auto all = cluster::status_of(s, cluster::ask_about(s.job));
    if (const std::string line = progress_line(all); line != shown) {
      print_to(stderr, "{}\n", line);
      shown = line;
      pause = kFirstMs;
    }
    if (is_over(all)) return;
    pollfd signal{interrupt::fd(), POLLIN, 0};
    if (poll(&signal, 1, pause) < 0 && errno != EINTR) throw_errno("poll");
    interrupt::check();
  }
}

}  // namespace

int submit(const submit_options& options) {
  const results::experiment e = setup::load_experiment(options, options);
  check_for_nodes(e, options);
  const cluster::batch b = batch_of(e, options);
  if (options.dry_run) {
    print_to(stdout, "==> {0}/shards.sh <==\n{1}\n==> {0}/merge.sh <==\n{2}", b.folder.string(),
             cluster::shards_script(b), cluster::merge_script(b));
    return kOk;
  }
  if (options.waits) interrupt::catch_signals();
  const cluster::submission s = submit_from(b, e.text);
  print_to(stdout, "{}: {} problems in {} shards, job {}{}\n", b.experiment, e.problems.size(),
           s.shards, s.job, s.merge_job.empty() ? "" : "; job " + s.merge_job + " merges them");
  print_how_to_go_on(s);
  if (!options.waits) return s.merge_job.empty() ? kSomeCellFailed : kOk;
  try {
    wait_for_end(s);
  } catch (const interrupt::interrupted&) {
    print_to(stdout, "no longer waiting; the jobs go on:\n");
    print_how_to_go_on(s);
    return kSignalled + interrupt::signal_number();
  }
  merge_options merging;
  merging.folder = b.folder.string();
  merging.by_device = options.by_device;
  return merge(merging);
}

namespace {

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
