#pragma once
// Collects the pids that hostile variants report (tests/hostile/log_process.hpp) while it exists.

#include "support/program.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::test {

class process_log {
 public:
  // The reported pids, in order.
  std::vector<std::string> processes() const { return lines_of(file_); }
  // Waits for the first pid; false if none is reported.
  bool wait_for_entry() const {
    return eventually([&] { return !processes().empty(); });
  }

 private:
  scratch_folder folder_{kSharedMemory};
  std::filesystem::path file_ = folder_.path() / "processes";
  environment variable_{"KZOO_PROCESS_LOG", file_.string()};
};

}  // namespace kzoo::test
