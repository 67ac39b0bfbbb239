#pragma once
// What hostile variants tell (tests/hostile/tell.hpp) while one of these lives.

#include "support/program.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace kzoo::test {

class told {
 public:
  // The numbers of processes, in the order of telling.
  std::vector<std::string> processes() const { return lines_of(file_); }
  // Until something is told; false if nothing is.
  bool comes() const {
    return comes_true([&] { return !processes().empty(); });
  }

 private:
  scratch_folder folder_;
  std::filesystem::path file_ = folder_.path() / "told";
  environment variable_{"KZOO_TOLD", file_.string()};
};

}  // namespace kzoo::test
