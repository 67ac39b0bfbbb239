#include "process/descendants.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

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

std::set<pid_t> children() {
  std::set<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (fault != std::errc{} || end != name.data() + name.size()) continue;
    if (parent_of(entry.path()) == getpid()) found.insert(pid);
  }
  return found;
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

void track(pid_t child) { known().insert(child); }
void forget(pid_t child) { known().erase(child); }

void kill_strays() {
  // When a stray dies, its own children become children of this process: hence several rounds. A
  // limit, since a plugin may fork faster than its processes are killed.
  constexpr int kMaxRounds = 100;
  for (int round = 0; round < kMaxRounds; ++round) {
    bool any = false;
    for (const pid_t pid : children()) {
      if (known().contains(pid)) continue;
      any = true;
      kill(pid, SIGKILL);
      while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    if (!any) return;
  }
}

}  // namespace kzoo::process::descendants
