#pragma once
// Slurm, through its programs sbatch and squeue.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::cluster {

// Submits a batch script; returns the id of its job. `options`: of sbatch, besides those in the
// script. Throws input::invalid with what Slurm says, and what to do.
std::string submit(const std::filesystem::path& script, const std::vector<std::string>& options);

// A task of an array job.
struct task {
  std::size_t number = 0;
  std::string state;      // in Slurm's words: "PENDING", "RUNNING", "FAILED"
  std::string reason;     // why it waits or has ended; or ""
  std::string node;       // "" while it waits
  std::string exit_code;  // as Slurm writes it, CODE:SIGNAL; "" for 0:0
};

// Whether a task in this state will run, and whether it runs.
bool is_waiting(const std::string& state);
bool is_running(const std::string& state);

// What Slurm knows of a job, or of several with commas between.
struct known_job {
  std::vector<task> tasks;  // none: it has forgotten the job, minutes after its end
  std::string trouble;      // why Slurm cannot be asked; "" if it can
};
known_job ask_about(const std::string& job);

}  // namespace kzoo::cluster
