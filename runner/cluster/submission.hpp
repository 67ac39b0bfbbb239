#pragma once
// The shared folder of an experiment's shards:
//
//   quick.toml                the experiment, as it was when it was submitted
//   shards.sh, merge.sh       the scripts for Slurm (script.hpp)
//   submitted                 how many shards there are, and the ids of the jobs
//   shard-0.jsonl …           their journals
//   shard-0.log …, merge.log  the output of the jobs
//   merged.json               the result

#include <cstddef>
#include <filesystem>
#include <string>

namespace kzoo::cluster {

struct submission {
  std::filesystem::path folder;
  std::size_t shards = 0;
  // Ids. `job`: several, separated by commas, after resubmissions. `merge_job`: "" if Slurm
  // refused.
  std::string job, merge_job;

  std::filesystem::path journal_of(std::size_t shard) const;
  std::filesystem::path log_of(std::size_t shard) const;
};

// Creates the folder and its parents. Throws input::invalid on failure, or if it is not empty.
void make_shared_folder(const std::filesystem::path& folder);

// Writes the file `submitted`. Throws not_written.
void write(const submission& s);
// Reads it. Throws input::invalid if the folder or the file is missing.
submission read_submission(const std::filesystem::path& folder);

}  // namespace kzoo::cluster
