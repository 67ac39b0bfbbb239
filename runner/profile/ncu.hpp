#pragma once
// Nsight Compute's command line, run on a program.

#include "profile/counters.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::profile {

// Nsight Compute is not there, or may not or cannot read counters. what() also says what to do.
class no_counters : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct tool {
  std::string program, version;
  std::vector<std::string> arguments;  // the user's own, as they are
  double timeout_seconds = 600;        // for one cell, with all passes

  // Whether the user has given this option, as `--name value` or `--name=value`.
  bool is_told(const std::string& option) const;
};

// `asked`, or the first that there is in PATH, /usr/local/cuda and /opt/nvidia. Throws no_counters.
tool find_tool(const std::string& asked);

// All of ncu's command line; a default gives way where the user has given the option himself.
std::vector<std::string> command_of(const tool& ncu, const std::vector<std::string>& metrics,
                                    const std::vector<std::string>& target);

// Runs `target`, a program and its arguments that ends as host/profiled.hpp says, under ncu. A
// metric that ncu does not know is left out. Throws no_counters, and failure for what goes wrong
// with the target.
counters collect(const tool& ncu, std::vector<std::string> metrics,
                 const std::vector<std::string>& target);

}  // namespace kzoo::profile
