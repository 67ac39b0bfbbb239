#pragma once
// Runs hostile variants, and checks the verdicts that they get; and what the runner refuses.

#include "support/program.hpp"

#include <string>
#include <vector>

namespace kzoo::test {

// The runner, with the misbehaving plugins beside its own.
run_result run_hostile(const std::string& arguments, const std::string& setting = "");

// The verdict of a cell, and texts that its reason must contain.
void check_cell(const nlohmann::json& cell, const std::string& verdict,
                const std::vector<const char*>& reason);

struct expectation {
  const char* kernel;  // plugin:variant
  const char* verdict;
  std::vector<const char*> reason;  // texts that it must contain
};

constexpr const char* kSmallSizes = "sizes = [64, '33x65x17']";

// Runs all kernels of the table between two honest plugins, in one experiment: each must get its
// verdict on every problem, and the honest ones must pass. Variants of one plugin share a worker,
// which the runner must replace after a failure, so that it does not affect the next variant.
void check_each(const std::vector<expectation>& table, const std::string& device,
                const std::string& problem = kSmallSizes,
                const std::string& verify = "timeout_seconds = 60");

// Runs the plugins of an experiment that is written into the folder, hostile ones among them. Its
// output holds the results, as JSON. `plugins` and `sizes` are the lists' contents, `timing` lines
// of the table, all of them as TOML.
run_result run_plugins(const scratch_folder& folder, const std::string& plugins,
                       const std::string& sizes, const std::string& timing,
                       const std::string& device, const std::string& environment = "");

// Runs a command that is bad usage: exit code 2, nothing on stdout, and on stderr all these words.
void check_refused(const std::string& arguments, const std::vector<std::string>& words,
                   const std::string& setting = "");

}  // namespace kzoo::test
