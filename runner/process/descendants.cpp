#include "process/descendants.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace kzoo::process::descendants {
namespace {

std::set<pid_t>& known() {
  static std::set<pid_t> pids;
  return pids;
}

// The parent's pid, from "PID (NAME) STATE PPID …"; NAME may contain spaces and parentheses.
pid_t parent_of(const std::filesystem::path& process) {
  std::ifstream file(process / "stat");
  std::string line;
  std::getline(file, line);
  const auto name_end = line.rfind(") ");
  pid_t parent = 0;
  constexpr std::size_t kStateLength = 4;  // ") S "
  if (name_end == std::string::npos || name_end + kStateLength >= line.size()) return 0;
  std::from_chars(line.data() + name_end + kStateLength, line.data() + line.size(), parent);
  return parent;
}

// Every process with its parent.
std::vector<std::pair<pid_t, pid_t>> processes() {
  std::vector<std::pair<pid_t, pid_t>> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (fault != std::errc{} || end != name.data() + name.size()) continue;
    found.emplace_back(pid, parent_of(entry.path()));
  }
  return found;
}

std::set<pid_t> children() {
  std::set<pid_t> found;
  for (const auto& [pid, parent] : processes())
    if (parent == getpid()) found.insert(pid);
  return found;
}

// No wait is longer than this: a process in the middle of a driver's call may not end when it is
// killed, and a plugin may fork faster than its processes are killed.
constexpr std::chrono::seconds kLongestWait{5};
constexpr std::chrono::milliseconds kPause{1};

// When a stray dies, its own children become children of this process: hence several rounds.
void kill_strays() {
  const auto deadline = std::chrono::steady_clock::now() + kLongestWait;
  for (;;) {
    bool any = false, all_ended = true;
    for (const pid_t pid : children()) {
      if (known().contains(pid)) continue;
      any = true;
      kill(pid, SIGKILL);
      all_ended = waitpid(pid, nullptr, WNOHANG) == pid && all_ended;
    }
    if (!any || std::chrono::steady_clock::now() > deadline) return;
    if (!all_ended) std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

void adopt() {
  static const bool once = [] {
    known() = children();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return true;
  }();
  static_cast<void>(once);
}

std::unique_lock<std::mutex> lock() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

void track(pid_t child) { known().insert(child); }

std::vector<pid_t> below(pid_t root) {
  const auto all = processes();
  std::vector<pid_t> found{root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const auto& [pid, parent] : all)
      if (parent == found[i]) found.push_back(pid);
  }
  found.erase(found.begin());
  return found;
}

std::optional<int> end(pid_t child) {
  const auto held = lock();
  kill(child, SIGKILL);
  killpg(child, SIGKILL);
  kill_strays();  // before the wait: the child may be waiting for one of them
  const auto deadline = std::chrono::steady_clock::now() + kLongestWait;
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 &&
         std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(kPause);
  }
  if (ended == 0) return std::nullopt;  // still tracked, and so never waited for again
  known().erase(child);
  kill_strays();  // what its end has orphaned
  return ended == child ? std::optional(status) : std::nullopt;
}

}  // namespace kzoo::process::descendants
