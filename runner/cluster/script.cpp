#include "cluster/script.hpp"

#include "os/printable.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace kzoo::cluster {
namespace {

std::vector<std::string> quoted(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  std::ranges::transform(words, std::back_inserter(all), shell_word);
  return all;
}

// Slurm replaces what follows a percent sign in the name of an output file.
std::string output(const batch& b, const char* name) {
  std::string folder = b.folder.string();
  for (std::size_t at = 0; (at = folder.find('%', at)) != std::string::npos; at += 2)
    folder.insert(at, 1, '%');
  return fmt::format("#SBATCH --open-mode=append --output={}\n", shell_word(folder + '/' + name));
}

std::string slurm_options(const batch& b) {
  if (b.slurm_options.empty()) return "";
  return fmt::format("#SBATCH {}\n", fmt::join(quoted(b.slurm_options), " "));
}

// What both jobs do first.
std::string preparation(const batch& b) {
  std::string text = fmt::format("set -eo pipefail\nfolder={}\nrunner=({})\n",
                                 shell_word(b.folder.string()), shell_word(b.runner.string()));
  if (!b.setup.empty())
    text += fmt::format("\n{}{}\n", b.setup, b.setup.ends_with('\n') ? "" : "\n");
  return text;
}

constexpr const char* kBeginShard = R"sh(
shard=$SLURM_ARRAY_TASK_ID
echo "shard $shard in job $SLURM_JOB_ID on $SLURMD_NODENAME, start $((1 + SLURM_RESTART_COUNT))"
# For `runner status`, where these scripts are submitted again.
again="job $SLURM_ARRAY_JOB_ID"
grep -qx "$again" "$folder/submitted" || echo "$again" >>"$folder/submitted" || true
trap : TERM # of scancel and pre-emption: the runner ends by itself, and then this script
code=0
)sh";
constexpr const char* kEndShard =
    R"sh(  --problems "${problems[shard]}" --journal "$folder/shard-$shard.jsonl" --or-resume || code=$?
# Killed by another signal, for want of memory, say: it goes on once more, up to three times.
if ((code > 128 && code != 130 && code != 143 && SLURM_RESTART_COUNT < 3)); then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit $code
)sh";

std::string job_name(const batch& b) {
  return file_name_from(std::filesystem::path(b.experiment).stem().string());
}

}  // namespace

std::string shards_script(const batch& b) {
  const std::string script = shell_word((b.folder / "shards.sh").string());
  std::string text = fmt::format(
      "#!/bin/bash\n"
      "# {} in {} shards. A task that is started again goes on with its journal; to run what shards 1\n"
      "# and 3 lack, say: sbatch --array=1,3 {}\n"
      "#SBATCH --job-name=kzoo-{}\n{}{}"
      "#SBATCH --array=0-{}\n#SBATCH --requeue\n{}\n{}",
      b.experiment, b.problems.size(), script, job_name(b), slurm_options(b),
      b.shares_nodes ? "" : "#SBATCH --exclusive\n", b.problems.size() - 1,
      output(b, "shard-%a.log"), preparation(b));
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
      "#SBATCH --job-name=kzoo-{}-merge\n{}{}\n{}"
      "exec \"${{runner[@]}}\" merge \"$folder\"{}\n",
      b.experiment, job_name(b), slurm_options(b), output(b, "merge.log"), preparation(b),
      b.by_device ? " --by-device" : "");
}

}  // namespace kzoo::cluster
