#include "cluster/slurm.hpp"

#include "input/diagnostics.hpp"
#include "os/assets.hpp"
#include "os/files.hpp"
#include "os/printable.hpp"
#include "os/text.hpp"
#include "process/command.hpp"
#include "storage/read.hpp"

#include <fmt/format.h>

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <system_error>

namespace kzoo::cluster {
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
  for (const std::string& line : lines_of(asset("slurm/advice"))) {
    const std::size_t end = line.find(" | ");
    if (!line.starts_with('#') && said.find(line.substr(0, end)) != std::string::npos)
      return line.substr(end + 3);
  }
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
