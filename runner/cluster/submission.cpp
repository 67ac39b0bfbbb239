#include "cluster/submission.hpp"

#include "input/diagnostics.hpp"
#include "os/assets.hpp"
#include "os/files.hpp"
#include "os/text.hpp"
#include "process/command.hpp"
#include "storage/results_json.hpp"

#include <fmt/format.h>

#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <optional>
#include <sstream>
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

namespace {

using process::command_result;

constexpr double kTimeoutSeconds = 60;  // sbatch itself retries for some time

// None if there is no such program.
std::optional<command_result> run(const std::vector<std::string>& argv) try {
  return process::run_command(argv, {}, kTimeoutSeconds);
} catch (const std::system_error& e) {
  if (e.code() == std::errc::no_such_file_or_directory) return std::nullopt;
  throw;
}

std::string words_of(const command_result& ran) {
  const std::string said = printable_lines(ran.output);
  return said.empty() ? process::how_it_failed(ran, kTimeoutSeconds) : said;
}

std::string todo_for(const std::string& said) {
  for (const auto& [part, advice] : asset_table("slurm/advice"))
    if (has_part(said, part)) return advice;
  return "";
}

// `sbatch --parsable` prints warnings, then the id, perhaps with a semicolon and the cluster.
std::string job_id_in(const std::string& output) {
  std::string id;
  for (std::string& line : lines_of(output)) {
    line.resize(std::min(line.find(';'), line.size()));
    const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
    if (!line.empty() && std::ranges::all_of(line, is_digit)) id = line;
  }
  return id;
}

task parse_task(const std::string& line) {
  std::istringstream in(line);
  std::string number;
  task t;
  for (std::string* field : {&number, &t.state, &t.exit_code, &t.node, &t.reason})
    std::getline(in, *field, '|');
  t.number = static_cast<std::size_t>(std::strtoull(number.c_str(), nullptr, 10));
  const auto status = static_cast<int>(std::strtol(t.exit_code.c_str(), nullptr, 10));
  t.exit_code = status == 0           ? ""
                : WIFSIGNALED(status) ? fmt::format("0:{}", WTERMSIG(status))
                                      : fmt::format("{}:0", WEXITSTATUS(status));
  if (t.reason == "None") t.reason.clear();
  return t;
}

bool is_among(const std::string& state, std::initializer_list<const char*> states) {
  return std::ranges::find(states, state) != states.end();
}

}  // namespace

std::string submit(const std::filesystem::path& script, const std::vector<std::string>& options) {
  std::vector<std::string> argv{"sbatch", "--parsable"};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.push_back(script.string());
  const auto ran = run(argv);
  if (!ran) {
    input::refuse("sbatch",
                  "there is no such program here; submit from a machine of the cluster that has "
                  "Slurm's commands, its login node, say (--dry-run shows the scripts anywhere)");
  }
  const std::string id = ran->code == 0 && !ran->hung ? job_id_in(ran->output) : "";
  if (!id.empty()) return id;
  const std::string said = words_of(*ran);
  input::refuse("sbatch",
                fmt::format("Slurm did not take the job:\n{}\n  {}", said, todo_for(said)));
}

bool is_waiting(const std::string& state) {
  return is_among(state, {"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT"});
}
bool is_running(const std::string& state) {
  return is_among(state, {"RUNNING", "CONFIGURING", "COMPLETING", "STAGE_OUT", "STOPPED",
                          "SUSPENDED", "RESIZING", "SIGNALING"});
}

known_job ask_about(const std::string& job) {
  known_job known;
  const auto ran = run({"squeue", "--noheader", "--array", "--states=all", "--jobs=" + job,
                        "--Format=ArrayTaskID:|,State:|,exit_code:|,NodeList:|,Reason:|"});
  if (!ran) {
    known.trouble = "there is no squeue here, so what follows is from the journals alone";
  } else if (ran->code != 0 || ran->hung) {
    const std::string said = words_of(*ran);
    if (said.find("Invalid job id") == std::string::npos)
      known.trouble = "Slurm cannot be asked, so what follows is from the journals alone: " + said;
  } else {
    for (const std::string& line : lines_of(ran->output))
      if (!line.empty()) known.tasks.push_back(parse_task(line));
  }
  return known;
}

namespace {

// The last nonempty line of a log, or the last error since the shard's latest start.
std::string last_words(const std::filesystem::path& log) {
  constexpr std::size_t kLongest = 200;
  std::string last, error;
  for (const std::string& line : lines_of(content_of(log))) {
    if (line.find_first_not_of(" \t") == std::string::npos) continue;
    last = line;
    if (line.find("error: ") != std::string::npos) error = line;
    if (line.starts_with("shard ")) error.clear();  // restarted
  }
  return printable(error.empty() ? last : error, kLongest);
}

void count_cells(const submission& s, std::size_t shard, shard_status& status) {
  try {
    const results::document d = storage::read_journal_file(s.journal_of(shard)).results;
    status.cells = d.cells.size();
    status.planned = d.planned;
  } catch (const input::invalid&) {
    // The journal or its first line does not exist yet.
  }
}

std::string why_failed(const submission& s, std::size_t shard, const task* t) {
  std::error_code ignored;
  std::string why = "Slurm does not know it any more";
  if (t != nullptr) {
    why = t->state;
    if (!t->exit_code.empty()) why += ", exit code " + t->exit_code;
    if (!t->reason.empty()) why += ", " + t->reason;
  }
  const auto log = s.log_of(shard);
  if (!std::filesystem::exists(log, ignored))
    return fmt::format("{}; there is no {}: was the folder there on the node?", why,
                       log.filename().string());
  const std::string words = last_words(log);
  return words.empty() ? why : fmt::format("{}; {}", why, words);
}

// If several jobs have the shard, prefers the job in which it is not over.
const task* task_of(std::size_t shard, const known_job& known) {
  const task* found = nullptr;
  for (const task& t : known.tasks) {
    if (t.number == shard && (found == nullptr || is_running(t.state) || is_waiting(t.state)))
      found = &t;
  }
  return found;
}

shard_status status_of(const submission& s, std::size_t shard, const known_job& known) {
  shard_status status;
  count_cells(s, shard, status);
  const task* t = task_of(shard, known);
  if (t != nullptr) status.node = t->node;
  if (status.planned > 0 && status.cells >= status.planned) {
    status.progress = progress::done;
  } else if (t != nullptr && is_running(t->state)) {
    status.progress = progress::running;
  } else if (t != nullptr && is_waiting(t->state)) {
    status.progress = progress::queued;
    status.why = t->reason;
  } else if (!known.trouble.empty()) {
    status.progress = progress::unknown;
  } else {
    status.progress = progress::failed;
    status.why = why_failed(s, shard, t);
  }
  return status;
}

}  // namespace

std::vector<shard_status> status_of(const submission& s, const known_job& known) {
  std::vector<shard_status> all;
  for (std::size_t i = 0; i < s.shards; ++i) all.push_back(status_of(s, i, known));
  return all;
}

}  // namespace kzoo::cluster
