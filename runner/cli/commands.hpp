#pragma once
// What each subcommand does. Each gives back the exit code of the program.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::cli {

// Documented in the README; scripts rely on them.
inline constexpr int kOk = 0;
inline constexpr int kSomeCellFailed = 1;
inline constexpr int kBadInput = 2;  // usage, experiment file
inline constexpr int kNoSuchDevice = 3;
inline constexpr int kRegression = 4;
inline constexpr int kSignalled = 128;  // and the signal's number, as a shell has it

// Of every subcommand.
struct common_options {
  std::vector<std::string> plugin_folders;  // --plugin-dir, before the built-in ones
  bool in_process = false;
};

// Of what runs an experiment.
struct output_options : common_options {
  std::string json, csv, markdown;  // "" : none, "-": stdout
  std::string journal;              // "" : under results/
  bool no_journal = false;
  bool quiet = false;
  bool show_errors = false;
};

// An experiment, and what is said over it.
struct experiment_options {
  std::string file;
  std::string device;                // "" : as the file says
  std::vector<std::string> plugins;  // empty: as the file says
  std::vector<std::string> sizes;    // likewise
  std::string tier;                  // "" : as the file says
};

// With `file` "" only with resume: as the interrupted run had it.
struct run_options : output_options, experiment_options {
  std::optional<std::string> resume;  // a journal; "": the newest
};

struct profile_options : common_options, experiment_options {
  std::vector<std::string> cells;          // empty: of the first problem all
  std::string ncu;                         // "" : where it usually is
  std::string json, markdown;              // "" : none, "-": stdout
  std::vector<std::string> ncu_arguments;  // after --
};

struct rerun_options : output_options {
  std::string file;
};

struct report_options {
  std::string file;
  bool markdown = false, json = false, csv = false;
};

struct compare_options {
  std::vector<std::string> files;  // OLD NEW, or one with a baseline
  std::string threshold = "3%";
  std::string baseline;
  bool force = false, markdown = false;
};

struct validate_options : common_options {
  std::string plugin;       // a name, name:variant or glob, or a library's file, also with :variant
  std::string size, dtype;  // "" : as it comes
  std::string tier = "full";
  std::string device;  // "" : one that there is a build for
  std::string json;    // "" : none, "-": stdout
  double timeout_seconds = 60;
  bool show_errors = false;
};

struct describe_options : common_options {
  std::string plugin;
};

struct devices_options {
  std::string device;  // "" : all
  bool measure = false, json = false;
};

int run(const run_options& options);
// The process of one device of several, at the other end of shards/dispatch.hpp.
int shard();
int rerun(const rerun_options& options);
int check(const run_options& options);
int profile(const profile_options& options);
int validate(const validate_options& options);
int list(const common_options& options);
int describe(const describe_options& options);
int devices(const devices_options& options);
int report(const report_options& options);
int compare(const compare_options& options);

// The folders that plugins and experiments are looked up in, by the program's own place: the build
// tree it was built in, or the tree it is installed in. Then the environment's.
std::vector<std::filesystem::path> plugin_folders();
std::vector<std::filesystem::path> config_path();

}  // namespace kzoo::cli
