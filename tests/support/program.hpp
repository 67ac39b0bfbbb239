#pragma once
// Runs the runner as a user does: arguments in; exit code, stdout and stderr out.

#include "os/printable.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace kzoo::test {

struct run_result {
  int code = -1;  // 128 + signal if one ended it, as in a shell
  std::string out, err;
  // stdout parsed as JSON; throws if it is not JSON. A reference, for loops over a part of it,
  // which must not be a part of a temporary.
  const nlohmann::json& json() const&;
  nlohmann::json json() &&;

  mutable std::shared_ptr<const nlohmann::json> parsed{};  // by json()
};

// `arguments` as typed in a shell. `setting`: put before the command, assignments or a cd; without
// a cd it runs in a temporary folder.
run_result runner(const std::string& arguments, const std::string& setting = "");

// The same with another program.
run_result run_program(const std::filesystem::path& program, const std::string& arguments,
                       const std::string& setting = "");

using kzoo::shell_word;  // for a path in such arguments

std::string read_text(const std::filesystem::path& file);
std::vector<std::string> lines_of(const std::filesystem::path& file);

// The nvcc that the runner compiles with, as a shell word. Skips the test where there is none.
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
  // What it has printed so far.
  std::string out() const { return read_text(out_); }
  std::string err() const { return read_text(err_); }
  run_result wait();

 private:
  std::filesystem::path out_, err_;
  int pid_ = 0;
};

// Whether a process, which is no child of this one, is gone.
bool has_ended(int pid);
// The live children of a process.
std::vector<int> children_of(int pid);
// Its children, their children, and so on.
std::vector<int> descendants_of(int pid);
// Polls until the condition holds; false after a time that is long enough on a busy machine.
bool eventually(const std::function<bool()>& condition);

// In which plugins may write, too.
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

// As the setting of a command: it runs in the folder.
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
