#pragma once
// Checks the verdicts that hostile variants get.

#include <string>
#include <vector>

namespace kzoo::test {

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

}  // namespace kzoo::test
