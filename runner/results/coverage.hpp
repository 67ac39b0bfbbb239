#pragma once
// What the checks could not cover, over several kernels.

#include "results/finding.hpp"

#include <string>
#include <vector>

namespace kzoo::results {

// A part of a check that could not be made, and for which kernels.
struct gap {
  std::string check, why;
  std::vector<std::string> kernels;
};

class coverage {
 public:
  // Adds the findings on a kernel.
  void add(const std::string& kernel, const std::vector<finding>& findings);

  bool complete() const { return gaps_.empty(); }
  // In the order in which they were found.
  const std::vector<gap>& gaps() const { return gaps_; }

 private:
  std::vector<gap> gaps_;
};

// "AddressSanitizer, of naive:8x8, smem:8x8 and 3 more: there is no build ...".
std::string to_string(const gap& g);

}  // namespace kzoo::results
