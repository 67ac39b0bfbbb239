#include "cluster/submission.hpp"

#include "input/diagnostics.hpp"
#include "os/files.hpp"
#include "os/printable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
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

std::vector<std::string> quoted(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  std::ranges::transform(words, std::back_inserter(all), shell_word);
  return all;
}

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
std::string option_lines(const std::vector<std::string>& options, const batch& b) {
  std::string text;
  for (std::size_t i = 0; i < options.size() - b.slurm_options.size(); ++i) {
    const std::size_t value = std::min(options[i].find('='), options[i].size() - 1) + 1;
    text += fmt::format("#SBATCH {}{}\n", options[i].substr(0, value),
                        value == options[i].size() ? "" : shell_word(options[i].substr(value)));
  }
  if (!b.slurm_options.empty())
    text += fmt::format("#SBATCH {}\n", fmt::join(quoted(b.slurm_options), " "));
  return text;
}

// The beginning of both jobs. Module and environment files may return any exit code.
std::string preparation(const batch& b) {
  std::string text = fmt::format("folder={}\nrunner=({})\nscontrol=$(command -v scontrol)\n",
                                 shell_word(b.folder.string()), shell_word(b.runner.string()));
  if (!b.setup.empty()) text += fmt::format("\n{}{}", b.setup, b.setup.ends_with('\n') ? "" : "\n");
  return text + "\nset -eo pipefail\n";
}

constexpr const char* kBeginShard = R"sh(
shard=$SLURM_ARRAY_TASK_ID
echo "shard $shard in job $SLURM_JOB_ID on $SLURMD_NODENAME, start $((1 + ${SLURM_RESTART_COUNT:-0}))"
# For `runner status`, where these scripts are submitted again.
again="job $SLURM_ARRAY_JOB_ID"
grep -qx "$again" "$folder/submitted" || echo "$again" >>"$folder/submitted" || true
trap : TERM # of scancel and pre-emption: the runner ends by itself, and then this script
code=0
)sh";
constexpr const char* kEndShard =
    R"sh(  --problems "${problems[shard]}" --journal "$folder/shard-$shard.jsonl" --or-resume || code=$?
# Killed by another signal, for want of memory, say: it goes on once more, up to three times.
if ((code > 128 && code != 130 && code != 143 && ${SLURM_RESTART_COUNT:-0} < 3)); then
  # By the task's number: the id of one of them is that of the whole array.
  "$scontrol" requeue "${SLURM_ARRAY_JOB_ID}_$shard" ||
    echo "shard $shard could not be queued again: sbatch --array=$shard $folder/shards.sh"
fi
exit $code
)sh";

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
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "# {} in {} shards. A task that is started again goes on with its journal; to run what shards 1\n"
      "# and 3 lack, say: sbatch --array=1,3 {}\n{}\n{}",
      b.experiment, b.problems.size(), shell_word((b.folder / "shards.sh").string()),
      option_lines(shards_options(b), b), preparation(b));
  text += fmt::format("problems=( # of shard 0, 1, …\n  {}\n)\n",
                      fmt::join(quoted(b.problems), "\n  "));
  text += kBeginShard;
  text += fmt::format("\"${{runner[@]}}\" run \"$folder\"/{} {} \\\n{}", shell_word(b.experiment),
                      fmt::join(quoted(b.options), " "), kEndShard);
  return text;
}

std::string merge_script(const batch& b) {
  return fmt::format(
      "#!/bin/bash\n"
      "# Merges the shards of {}, once they have ended: sbatch --dependency=afterany:JOB\n"
      "{}\n{}exec \"${{runner[@]}}\" merge \"$folder\"{}\n",
      b.experiment, option_lines(merge_options(b), b), preparation(b),
      b.by_device ? " --by-device" : "");
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
