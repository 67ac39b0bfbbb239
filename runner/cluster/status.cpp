#include "cluster/status.hpp"

#include "input/invalid.hpp"
#include "os/files.hpp"
#include "os/printable.hpp"
#include "os/text.hpp"
#include "storage/read.hpp"

#include <fmt/format.h>

#include <system_error>

namespace kzoo::cluster {
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

std::string_view progress_name(progress p) {
  constexpr std::array<std::string_view, kProgress.size()> kNames{"done", "running", "queued",
                                                                  "failed", "unknown"};
  return kNames[static_cast<std::size_t>(p)];
}

std::vector<shard_status> status_of(const submission& s, const known_job& known) {
  std::vector<shard_status> all;
  for (std::size_t i = 0; i < s.shards; ++i) all.push_back(status_of(s, i, known));
  return all;
}

}  // namespace kzoo::cluster
