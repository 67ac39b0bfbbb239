#pragma once
// The options of the subcommands.

#include "report/terminal.hpp"
#include "setup/plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kzoo::cli {

using setup::common_options;
using setup::experiment_options;

// Output options of run and rerun.
struct output_options : common_options {
  report::shown_options shown;
  std::string json, csv, markdown, junit;  // "": none, "-": stdout
  std::string journal;                     // "": under results/
  bool no_journal = false;
  bool quiet = false;
  bool show_errors = false;
};

// `file` may be "" only with resume: then it is the interrupted run's.
struct run_options : output_options, experiment_options {
  std::optional<std::string> resume;  // a journal; "": the newest
  bool or_resume = false;             // continue `journal` if it exists
  bool trust_folders = false;         // with resume: as in rerun_options
};

struct tune_options : run_options {
  std::string budget;  // "60s", "5m", "1h"; "": none
};

struct profile_options : common_options, experiment_options {
  std::vector<std::string> cells;          // empty: all of the first problem
  std::string ncu;                         // "": look for it
  std::string json, markdown;              // "": none, "-": stdout
  std::vector<std::string> ncu_arguments;  // after --
};

struct xray_options : common_options, experiment_options {
  std::vector<std::string> cells;  // empty: all of the first problem
  bool lines = false;
  std::uint64_t blocks = 0;          // 0: about half a minute's worth
  std::string json, markdown, html;  // "": none, "-": stdout
};

struct rerun_options : output_options {
  std::string file;
  bool trust_folders = false;  // load plugins from the folders that the result names
};

enum class format { json, csv, markdown, junit };

struct report_options {
  std::vector<std::string> files;  // a single file; several with html and svg
  std::string html;                // "": none, "-": stdout
  std::string svg;                 // a folder; "": none
  report::shown_options shown;
  std::optional<format> as;  // absent: tables for the terminal
};

struct compare_options {
  std::vector<std::string> files;  // OLD NEW, or one file with --baseline
  std::string threshold = "3%";
  std::string baseline;
  bool force = false, markdown = false;
};

struct validate_options : common_options {
  std::string plugin;                     // name, name:variant or glob; or FILE.so, FILE.so:variant
  std::string size, dtype;                // "": default size, all types
  std::string layout;                     // "": the first that the variant supports
  std::string epilogue;                   // "": none
  std::string batch;                      // GEMMs; "": a single GEMM
  std::vector<std::string> scale_blocks;  // of A and of B; empty: none
  std::string groups;                     // "": none
  std::string tier = "full";
  std::string device;  // "": a device that the plugin has a build for
  std::string json;    // "": none, "-": stdout
  double timeout_seconds = 60;
  bool show_errors = false;
};

struct compile_options {
  std::vector<std::string> files;          // sources, and manifests of compiled kernels
  std::vector<std::string> architectures;  // empty: the source's, else those of this runner's build
  std::vector<std::string> build_args;     // compiler options
  std::string out = ".";
  std::string device = "cuda";
  bool device_code_only = false;  // refuse files with host code
};

struct judge_options : common_options {
  std::vector<std::string> files;
  std::string problems = "quick";  // an experiment, whose plugins do not matter
  std::string device;              // "": the experiment's
  std::string tier = "full";
  std::string baseline;  // "": the experiment's
  bool json = false;     // a line for each file
  bool explain = false;  // also with json: wrong memory accesses of a wrong kernel
  bool device_code_only = false;
  bool compile_only = false;
  compile_options compiled;  // only with compile_only, for its output and targets
};

struct list_options : common_options {
  std::vector<std::string> plugins;  // empty: all
};

struct describe_options : common_options {
  std::string plugin;
};

struct new_options {
  std::string name;
  std::string from;  // a plugin of the zoo; "": the template
  std::string out;   // a folder for a separate project; "": a folder with the name
};

struct export_options {
  std::string file;  // from `tune --json`
  std::string out;   // a new folder, whose name the functions get
  bool fallback = false;
};

struct watch_options : common_options, experiment_options {
  std::string source;
};

struct merge_options {
  std::string folder;
  bool by_device = false;
  report::shown_options shown;
};

struct devices_options {
  std::string device;  // "": all
  bool measure = false, json = false;
};

}  // namespace kzoo::cli
