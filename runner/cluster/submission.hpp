#pragma once
// The folder that the shards of an experiment share: what was submitted, and where each shard
// stores its results.
//
//   quick.toml                the experiment, as it was when it was submitted
//   shards.sh, merge.sh       what Slurm runs (script.hpp)
//   submitted                 how many shards there are, and the ids of the jobs
//   shard-0.jsonl …           their journals
//   shard-0.log …, merge.log  what the jobs print
//   merged.json               the result

#include <cstddef>
#include <filesystem>
#include <string>

namespace kzoo::cluster {

struct submission {
  std::filesystem::path folder;
  std::size_t shards = 0;
  // Ids. `job` has several, with commas between, where shards were submitted again; `merge_job` is
  // "" where Slurm has refused it.
  std::string job, merge_job;

  std::filesystem::path journal_of(std::size_t shard) const;
  std::filesystem::path log_of(std::size_t shard) const;
};

// Makes the folder, with those above it. Throws input::invalid if it cannot be made, or there is
// something in it already.
void make_shared_folder(const std::filesystem::path& folder);

// Writes the file `submitted`. Throws not_written.
void write(const submission& s);
// Reads it. Throws input::invalid if the folder or the file is missing.
submission read_submission(const std::filesystem::path& folder);

}  // namespace kzoo::cluster
