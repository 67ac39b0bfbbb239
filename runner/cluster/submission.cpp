#include "cluster/submission.hpp"

#include "input/diagnostics.hpp"
#include "os/assets.hpp"
#include "os/files.hpp"
#include "os/printable.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <system_error>
#include <utility>

namespace kzoo::cluster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile = "submitted";

// Several tasks of a job may note its id at once.
void add_id(std::string& list, const std::string& id) {
  if ((',' + list + ',').find(',' + id + ',') != std::string::npos) return;
  list += (list.empty() ? "" : ",") + id;
}

}  // namespace

fs::path submission::journal_of(std::size_t shard) const {
  return folder / fmt::format("shard-{}.jsonl", shard);
}
fs::path submission::log_of(std::size_t shard) const {
  return folder / fmt::format("shard-{}.log", shard);
}

void make_shared_folder(const fs::path& folder) {
  std::error_code fault;
  fs::create_directories(folder, fault);
  if (fault) input::refuse(folder.string(), "cannot be made: " + fault.message());
  if (!fs::is_empty(folder, fault)) {
    input::refuse(folder.string(),
                  "is not empty; name another folder with --journal-dir, or go on with what is "
                  "there: runner status, runner merge");
  }
}

void write(const submission& s) {
  replace_file(s.folder / kFile,
               fmt::format("shards {}\njob {}\nmerge {}\n", s.shards, s.job, s.merge_job));
}

submission read_submission(const fs::path& folder) {
  submission s;
  s.folder = fs::absolute(folder).lexically_normal();
  std::ifstream in(folder / kFile);
  std::string word;
  in >> word >> s.shards;
  if (!in || word != "shards" || s.shards == 0) {
    std::error_code ignored;
    input::refuse(folder.string(),
                  fs::is_directory(folder, ignored)
                      ? "is no folder of `runner submit`: it has no file called submitted"
                      : "there is no such folder here; is it on a file system of another machine?");
  }
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("job ")) add_id(s.job, line.substr(4));
    if (line.starts_with("merge ")) s.merge_job = line.substr(6);
  }
  return s;
}

namespace {

std::string quoted(const std::vector<std::string>& words) { return joined(words, " ", shell_word); }

// Slurm expands a percent sign in the name of an output file.
std::string output(const batch& b, const char* name) {
  std::string folder = b.folder.string();
  for (std::size_t at = 0; (at = folder.find('%', at)) != std::string::npos; at += 2)
    folder.insert(at, 1, '%');
  return fmt::format("--output={}/{}", folder, name);
}

std::string job_name(const batch& b) {
  return "--job-name=kzoo-" + file_name_from(std::filesystem::path(b.experiment).stem().string());
}

std::vector<std::string> with_users(std::vector<std::string> own, const batch& b) {
  own.insert(own.end(), b.slurm_options.begin(), b.slurm_options.end());
  return own;
}

// An option a line, for editing. The user's share a line: an option's value may be the next word.
std::vector<holes> option_lines(const std::vector<std::string>& options, const batch& b) {
  std::vector<holes> lines;
  for (std::size_t i = 0; i < options.size() - b.slurm_options.size(); ++i) {
    const std::size_t value = std::min(options[i].find('='), options[i].size() - 1) + 1;
    const std::string quoted =
        value == options[i].size() ? "" : shell_word(options[i].substr(value));
    lines.push_back({{{"option", options[i].substr(0, value) + quoted}}});
  }
  if (!b.slurm_options.empty()) lines.push_back({{{"option", quoted(b.slurm_options)}}});
  return lines;
}

// For both jobs. Module and environment files may return any exit code.
holes holes_of(const batch& b, const std::vector<std::string>& options) {
  return {{{"experiment", b.experiment},
           {"folder", shell_word(b.folder.string())},
           {"runner", shell_word(b.runner.string())},
           {"setup", b.setup.substr(0, b.setup.size() - (b.setup.ends_with('\n') ? 1 : 0))}},
          {{"options", option_lines(options, b)}}};
}

}  // namespace

std::vector<std::string> shards_options(const batch& b) {
  std::vector<std::string> own{job_name(b), fmt::format("--array=0-{}", b.problems.size() - 1),
                               "--requeue", "--open-mode=append", output(b, "shard-%a.log")};
  if (!b.shares_nodes) own.emplace_back("--exclusive");
  return with_users(std::move(own), b);
}

std::vector<std::string> merge_options(const batch& b) {
  return with_users({job_name(b) + "-merge", "--open-mode=append", output(b, "merge.log")}, b);
}

std::string shards_script(const batch& b) {
  holes values = holes_of(b, shards_options(b));
  values.texts["shards"] = std::to_string(b.problems.size());
  values.texts["script"] = shell_word((b.folder / "shards.sh").string());
  values.texts["file"] = shell_word(b.experiment);
  values.texts["run_options"] = quoted(b.options);
  for (const std::string& numbers : b.problems)
    values.lists["problems"].push_back({{{"numbers", shell_word(numbers)}}});
  return filled("slurm/shards.sh", values);
}

std::string merge_script(const batch& b) {
  holes values = holes_of(b, merge_options(b));
  values.texts["by_device"] = b.by_device ? "yes" : "";
  return filled("slurm/merge.sh", values);
}

double estimated_work(const problem& p) {
  // Judging and timing rounds take a while even for the smallest problem.
  constexpr double kEach = 2.0 * 512 * 512 * 512;
  return kEach + p.flops();
}

std::vector<std::vector<std::size_t>> split(std::span<const problem> problems, std::size_t shards) {
  std::vector<std::size_t> longest_first(problems.size());
  std::iota(longest_first.begin(), longest_first.end(), std::size_t{0});
  std::ranges::stable_sort(longest_first, std::ranges::greater{},
                           [&](std::size_t i) { return estimated_work(problems[i]); });
  shards = std::min(shards, problems.size());
  std::vector<std::vector<std::size_t>> numbers(shards);
  std::vector<double> work(shards);
  for (const std::size_t i : longest_first) {
    const auto least = std::ranges::min_element(work);
    numbers[static_cast<std::size_t>(least - work.begin())].push_back(i);
    *least += estimated_work(problems[i]);
  }
  for (auto& each : numbers) std::ranges::sort(each);
  return numbers;
}

std::string numbers_text(std::span<const std::size_t> ascending) {
  std::string text;
  for (std::size_t i = 0; i < ascending.size();) {
    std::size_t end = i + 1;
    while (end < ascending.size() && ascending[end] == ascending[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(ascending[i]);
    if (end - i > 1) text += '-' + std::to_string(ascending[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace kzoo::cluster
