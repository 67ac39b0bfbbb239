#include "process/spawn.hpp"

#include "os/posix.hpp"
#include "process/descendants.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string_view>
#include <system_error>

extern char** environ;

namespace kzoo::process {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

// Whether one of the settings is of the variable's name. A name must not be there twice: getenv()
// finds the first, and a shell passes on the last.
bool is_set(const std::vector<std::string>& settings, std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('=') + 1);
  return std::ranges::any_of(settings, [&](const std::string& s) { return s.starts_with(name); });
}

}  // namespace

pid_t spawn(const std::string& program, std::vector<std::string> argv,
            std::span<const given_descriptor> descriptors,
            const std::vector<std::string>& settings) {
  std::vector<std::string> variables = settings;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!is_set(settings, *variable)) variables.emplace_back(*variable);

  // First duplicated above all targets, so that no dup2 overwrites a descriptor still to be copied.
  constexpr int kAboveTargets = 16;
  std::vector<descriptor> raised;
  for (const given_descriptor& d : descriptors) {
    raised.emplace_back(fcntl(d.from, F_DUPFD_CLOEXEC, kAboveTargets));
    if (raised.back().fd() < 0) throw_errno("duplicating a descriptor");
  }

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  int first_closed = STDERR_FILENO + 1;
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (std::size_t i = 0; i < raised.size(); ++i) {
    posix_spawn_file_actions_adddup2(&actions, raised[i].fd(), descriptors[i].to);
    first_closed = std::max(first_closed, descriptors[i].to + 1);
  }
  // Also those that this process has inherited or that a library opened.
  posix_spawn_file_actions_addclosefrom_np(&actions, first_closed);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t usual;  // what os/interrupt.hpp ignores
  sigemptyset(&usual);
  for (const int number : {SIGPIPE, SIGXFSZ}) sigaddset(&usual, number);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  const auto held = descendants::lock();
  descendants::adopt();
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, program.c_str(), &actions, &attributes,
                                 pointers(argv).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    throw std::system_error(error, std::generic_category(), "starting " + argv.front());
  }
  descendants::track(pid, true);
  return pid;
}

}  // namespace kzoo::process
