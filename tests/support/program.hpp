#pragma once
// Runs the runner as a user does: arguments in; exit code, stdout and stderr out.

#include "os/text.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kzoo::test {

struct run_result {
  int code = -1;  // 128 + the signal that ended it, as in a shell
  std::string out, err;
  // stdout as JSON; throws if it is not JSON. A reference, so that a loop may run over a part.
  const nlohmann::json& json() const&;
  nlohmann::json json() &&;

  mutable std::shared_ptr<const nlohmann::json> parsed{};  // by json()
};

// `arguments`: as in a shell. `setting`: assignments or a cd in front; default: a temporary folder.
run_result runner(const std::string& arguments, const std::string& setting = "");

run_result run_program(const std::filesystem::path& program, const std::string& arguments,
                       const std::string& setting = "");

using kzoo::shell_word;  // for a path in such arguments

std::string read_text(const std::filesystem::path& file);
std::vector<std::string> lines_of(const std::filesystem::path& file);

// The nvcc that the runner compiles with, as a shell word. Skips the test without nvcc.
std::string nvcc();

// The runner in the background; the destructor kills it if it is still running.
class background_run {
 public:
  background_run(const std::vector<std::string>& arguments, const std::filesystem::path& folder);
  ~background_run();
  background_run(const background_run&) = delete;
  background_run& operator=(const background_run&) = delete;

  int pid() const { return pid_; }
  void send(int signal) const;
  std::string out() const { return read_text(out_); }
  std::string err() const { return read_text(err_); }
  run_result wait();

 private:
  std::filesystem::path out_, err_;
  int pid_ = 0;
};

// Whether a process that is not a child of the test has ended.
bool has_ended(int pid);
// The live children of a process.
std::vector<int> children_of(int pid);
std::vector<int> descendants_of(int pid);
// Polls until the condition holds; false after a time that is long enough on a busy machine.
bool eventually(const std::function<bool()>& condition);

// Plugins may also write there.
inline constexpr const char* kSharedMemory = "/dev/shm";

// A new folder; the destructor removes it.
class scratch_folder {
 public:
  explicit scratch_folder(
      const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Writes a file into it; returns its path.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

// For XDG_CACHE_HOME: tests with it compile a source once in all of them.
std::filesystem::path shared_cache();

// The tier for tests that only need a verdict: quick, and full in the tests of a night.
std::string usual_tier();

// A command's setting that makes it run in the folder.
std::string in(const scratch_folder& folder);

// Sets an environment variable, for this process and its children, until it is destroyed.
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
