#pragma once
// The batch scripts for Slurm, which a user can read, change and submit again.

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::cluster {

struct batch {
  std::filesystem::path folder;  // shared by all nodes (submission.hpp)
  std::filesystem::path runner;
  std::string experiment;                  // the name of its file in the folder
  std::vector<std::string> options;        // of the run
  std::vector<std::string> problems;       // of each shard: --problems
  std::string setup;                       // lines of bash at the start of each job; "": none
  std::vector<std::string> slurm_options;  // for both jobs, as sbatch takes them
  bool shares_nodes = false;               // several shards may run on a node at once
  bool by_device = false;                  // when merging
};

// The sbatch options of each job: its own, then the user's; the last counts. They are in the
// script, for later submissions, and on sbatch's command line, because Slurm prefers environment
// variables (SBATCH_PARTITION, …) to the script.
std::vector<std::string> shards_options(const batch& b);
std::vector<std::string> merge_options(const batch& b);

// An array job with a task for each shard.
std::string shards_script(const batch& b);
// The job that merges them.
std::string merge_script(const batch& b);

}  // namespace kzoo::cluster
