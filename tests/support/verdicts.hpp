#pragma once
// What hostile variants deserve, and that they get it.

#include <string>
#include <vector>

namespace kzoo::test {

struct expectation {
  const char* kernel;  // plugin:variant
  const char* verdict;
  std::vector<const char*> reason;  // words that must be in it
};

constexpr const char* kSmallSizes = "sizes = [64, '33x65x17']";

// All kernels of a table between two honest plugins, in one experiment: each gets its own verdict
// on every problem, and the honest ones pass. Variants of one plugin share a worker, which the
// runner has to replace for what they leave behind not to be the next one's.
void check_each(const std::vector<expectation>& table, const std::string& device,
                const std::string& problem = kSmallSizes,
                const std::string& verify = "timeout_seconds = 60");

}  // namespace kzoo::test
