#pragma once
// Runs hostile variants, and checks their verdicts and rejections.

#include "support/program.hpp"

#include <string>
#include <vector>

namespace kzoo::test {

// Runs the runner with the misbehaving plugins as well as its own.
run_result run_hostile(const std::string& arguments, const std::string& setting = "");

// Checks a cell's verdict, and texts that its reason must contain.
void check_cell(const nlohmann::json& cell, const std::string& verdict,
                const std::vector<const char*>& reason);

struct expectation {
  const char* kernel;  // plugin:variant
  const char* verdict;
  std::vector<const char*> reason;  // texts that it must contain
};

constexpr const char* kSmallSizes = "sizes = [64, '33x65x17']";

// Runs all kernels of the table between two honest plugins, in one experiment. Each must get its
// verdict on every problem, and the honest plugins must pass. Variants of a plugin share a worker,
// which the runner must replace after a failure.
void check_each(const std::vector<expectation>& table, const std::string& device,
                const std::string& problem = kSmallSizes,
                const std::string& verify = "timeout_seconds = 60");

// Runs an experiment, written into the folder, that includes hostile plugins. Its output is JSON.
// `plugins` and `sizes`: contents of the TOML lists; `timing`: lines of the table.
run_result run_plugins(const scratch_folder& folder, const std::string& plugins,
                       const std::string& sizes, const std::string& timing,
                       const std::string& device, const std::string& environment = "");

// Runs a command that must fail as bad usage: exit code 2, an empty stdout, all words on stderr.
void check_refused(const std::string& arguments, const std::vector<std::string>& words,
                   const std::string& setting = "");

}  // namespace kzoo::test
