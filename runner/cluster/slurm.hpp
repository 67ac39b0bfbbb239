#pragma once
// Slurm, through its programs sbatch and squeue, and the progress of shards, from their journals
// and Slurm.

#include "cluster/submission.hpp"
#include "os/enums.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::cluster {

// Submits a batch script and returns its job's id. `options`: sbatch's, in addition to the
// script's. Throws input::invalid with Slurm's message and advice.
std::string submit(const std::filesystem::path& script, const std::vector<std::string>& options);

// A task of an array job.
struct task {
  std::size_t number = 0;
  std::string state;      // in Slurm's words: "PENDING", "RUNNING", "FAILED"
  std::string reason;     // why it waits or has ended; or ""
  std::string node;       // "" while it waits
  std::string exit_code;  // as Slurm writes it, CODE:SIGNAL; "" for 0:0
};

// Whether a task in this state will run, or runs.
bool is_waiting(const std::string& state);
bool is_running(const std::string& state);

// Slurm's answer about a job, or several separated by commas.
struct known_job {
  std::vector<task> tasks;  // empty: Slurm forgets a job minutes after its end
  std::string trouble;      // why Slurm cannot be asked; "" if it can
};
known_job ask_about(const std::string& job);

// `failed`: it has ended, and cells are missing. `unknown`: unfinished, and Slurm cannot be asked.
KZOO_ENUM(progress, done, running, queued, failed, unknown);

struct shard_status {
  cluster::progress progress{};
  std::size_t cells = 0, planned = 0;  // planned 0: there is no journal yet
  std::string node;
  std::string why;  // Slurm's reason, and the end of a failed shard's log
};

std::vector<shard_status> status_of(const submission& s, const known_job& known);

}  // namespace kzoo::cluster
