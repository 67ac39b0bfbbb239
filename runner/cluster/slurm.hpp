#pragma once
// Slurm, through its programs sbatch and squeue.

#include <cstddef>
#include <filesystem>
#include <string>
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

}  // namespace kzoo::cluster
