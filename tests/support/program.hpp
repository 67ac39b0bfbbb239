#pragma once
// Runs the runner as a user does: words in, exit code and two streams out.

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kzoo::test {

struct ending {
  int code = -1;  // 128 + signal, as a shell has it
  std::string out, err;
  // stdout as JSON; throws if it is none.
  nlohmann::json json() const;
};

// `arguments` as typed in a shell. `setting`: what stands before the command, assignments or a cd;
// without one it runs in a folder that is gone afterwards.
ending runner(const std::string& arguments, const std::string& setting = "");

// The runner while it runs; killed if it still does when this goes away.
class running {
 public:
  running(const std::vector<std::string>& arguments, const std::filesystem::path& folder);
  ~running();
  running(const running&) = delete;
  running& operator=(const running&) = delete;

  int pid() const { return pid_; }
  void send(int signal) const;
  ending wait();

 private:
  std::filesystem::path out_, err_;
  int pid_ = 0;
};

std::string read_text(const std::filesystem::path& file);
std::vector<std::string> lines_of(const std::filesystem::path& file);

// The processes that it has started and that are still there.
std::vector<int> children_of(int pid);
// Those, and what they have started in turn.
std::vector<int> descendants_of(int pid);
// Asks again and again, for as long as no machine is too busy for.
bool comes_true(const std::function<bool()>& at_last);

// A folder that is gone with this object.
class scratch_folder {
 public:
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Writes a file into it; gives its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

// A variable of the environment, of this process and of all that it starts, while this lives.
class environment {
 public:
  environment(const char* name, const std::string& value);
  ~environment();
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

 private:
  const char* name_;
};

}  // namespace kzoo::test
