#include "support/program.hpp"

#include "support/paths.hpp"
#include "support/skip.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace kzoo::test {
namespace {

namespace fs = std::filesystem;

int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

std::string nvcc() {
  const fs::path recipe =
      (fs::path(runner_program()) / "../../recipes/cuda.toml").lexically_normal();
  if (!fs::exists(recipe)) skip("this build has no nvcc");
  const std::string text = read_text(recipe), key = "\ncompiler = '";
  const auto begin = text.find(key) + key.size();
  return shell_word(text.substr(begin, text.find('\'', begin) - begin));
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::istringstream text(read_text(file));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

bool has_ended(int pid) { return kill(pid, 0) != 0; }

std::vector<int> children_of(int pid) {
  std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", pid));
  std::vector<int> children;
  for (int child = 0; file >> child;) children.push_back(child);
  return children;
}

std::vector<int> descendants_of(int pid) {
  std::vector<int> all;
  for (const int child : children_of(pid)) {
    all.push_back(child);
    for (const int below : descendants_of(child)) all.push_back(below);
  }
  return all;
}

bool eventually(const std::function<bool()>& condition) {
  constexpr std::chrono::seconds kLimit{120};
  const auto end = std::chrono::steady_clock::now() + kLimit;
  while (std::chrono::steady_clock::now() < end) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return condition();
}

const nlohmann::json& run_result::json() const& {
  if (!parsed) parsed = std::make_shared<const nlohmann::json>(nlohmann::json::parse(out));
  return *parsed;
}

nlohmann::json run_result::json() && { return nlohmann::json::parse(out); }

run_result runner(const std::string& arguments, const std::string& setting) {
  return run_program(runner_program(), arguments, setting);
}

run_result run_program(const fs::path& program, const std::string& arguments,
                       const std::string& setting) {
  const scratch_folder folder;
  const fs::path out = folder.path() / "out", err = folder.path() / "err";
  const std::string command = "cd " + shell_word(folder.path()) + " && " + setting + ' ' +
                              shell_word(program) + ' ' + arguments + " >" + shell_word(out) +
                              " 2>" + shell_word(err) + " </dev/null";
  const int status = std::system(command.c_str());
  return {exit_code(status), read_text(out), read_text(err)};
}

background_run::background_run(const std::vector<std::string>& arguments, const fs::path& folder)
    : out_(folder / "out"), err_(folder / "err") {
  const std::string program = runner_program();
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_.c_str(), kNew, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err_.c_str(), kNew, 0600);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t both;
  sigemptyset(&both);
  sigaddset(&both, SIGINT);
  sigaddset(&both, SIGTERM);
  posix_spawnattr_setsigdefault(&attributes, &both);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int error =
      posix_spawn(&pid_, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error("posix_spawn " + program);
}

background_run::~background_run() {
  if (pid_ == 0) return;
  send(SIGKILL);
  wait();
}

void background_run::send(int signal) const { kill(pid_, signal); }

run_result background_run::wait() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return {exit_code(status), read_text(out_), read_text(err_)};
}

scratch_folder::scratch_folder(const fs::path& parent) {
  std::string name = (parent / "kzoo-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp " + name);
  path_ = name;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string scratch_folder::write(const std::string& name, const std::string& text) const {
  const fs::path file = path_ / name;
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file.string();
}

fs::path shared_cache() {
  static const scratch_folder kept;
  return kept.path();
}

std::string usual_tier() {
  const char* tier = std::getenv("KZOO_TEST_TIER");
  return tier == nullptr ? "quick" : tier;
}

std::string in(const scratch_folder& folder) { return "cd " + shell_word(folder.path()) + " &&"; }

environment::environment(const char* name, const std::string& value) : name_(name) {
  setenv(name, value.c_str(), 1);
}

environment::~environment() { unsetenv(name_); }

}  // namespace kzoo::test
