#pragma once
// The shared folder of an experiment's shards:
//
//   quick.toml                the experiment, as it was when it was submitted
//   shards.sh, merge.sh       the scripts for Slurm
//   submitted                 how many shards there are, and the ids of the jobs
//   shard-0.jsonl …           their journals
//   shard-0.log …, merge.log  the output of the jobs
//   merged.json               the result

#include "core/problem.hpp"
#include "os/enums.hpp"
#include "results/document.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

// For the scripts of Slurm, which a user can read, change and submit again.
struct batch {
  std::filesystem::path folder;  // shared by all nodes
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

// The relative duration of a problem: its operations and a constant.
double estimated_work(const problem& p);

// Splits problems into shards of about equal duration. All kernels of a problem stay together,
// since they are compared on one device. Returns the numbers of each shard's problems, ascending.
// The longest remaining problem goes to the shard with the least work. Returns no more shards than
// problems.
std::vector<std::vector<std::size_t>> split(std::span<const problem> problems, std::size_t shards);

// For --problems: "0-3,7".
std::string numbers_text(std::span<const std::size_t> ascending);

// Slurm, through its programs sbatch and squeue, and the progress of shards, from their journals
// and Slurm.

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

// Joins the results of an experiment's shards.

struct shard_results {
  std::string name;
  results::document results;
};

struct merged {
  std::vector<results::document> by_device;  // a single document, unless several devices are
                                             // allowed
  // Problems without all their cells: "512x512x512 f32: naive:8x8, smem:16x16".
  std::vector<std::string> missing;
};

// "NVIDIA H200, driver 580.159, CUDA runtime 13.0": results must agree in this to share a table.
std::string device_words(const results::device& d);

// `shards`: at least one; interrupted shards may lack cells. Throws input::invalid for shards with
// different experiments, plugin files or kernel-zoo versions, for a problem in two shards and,
// unless `by_device`, for different devices.
merged merge(std::vector<shard_results> shards, bool by_device);

}  // namespace kzoo::cluster
