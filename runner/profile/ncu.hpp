#pragma once
// Runs a program under Nsight Compute's command line tool, ncu.

#include "profile/counters.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::profile {

// ncu was not found, or cannot read counters. what() includes a remedy.
class no_counters : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct tool {
  std::string program, version;
  std::vector<std::string> arguments;  // given by the user, passed on unchanged
  double timeout_seconds = 600;        // for one cell, including all replay passes

  // Whether the user has given this option, as `--name value` or `--name=value`.
  bool has_option(const std::string& option) const;
};

// `asked`; if "", the first found in PATH, /usr/local/cuda and /opt/nvidia. Throws no_counters.
tool find_tool(const std::string& asked);

// The complete command line of ncu. A user's option replaces the default.
std::vector<std::string> command_of(const tool& ncu, const std::vector<std::string>& metrics,
                                    const std::vector<std::string>& target);

// Runs `target`, a command line from client/profiled.hpp, confined under ncu. Omits metrics that
// ncu does not know. Throws no_counters, and failure when the target fails.
counters collect(const tool& ncu, std::vector<std::string> metrics,
                 const std::vector<std::string>& target);

}  // namespace kzoo::profile
