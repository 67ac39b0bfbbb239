#include "workers/command.hpp"

#include "core/interrupt.hpp"
#include "core/throw_errno.hpp"
#include "workers/offspring.hpp"
#include "workers/output_log.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <thread>

extern char** environ;

namespace kzoo::workers {
namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

pid_t start(std::vector<std::string> argv, const std::vector<std::string>& settings, int log_fd) {
  std::vector<std::string> variables = settings;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, log_fd, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log_fd, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  pid_t pid = 0;
  offspring::adopt();
  const int error = posix_spawnp(&pid, argv[0].c_str(), &actions, &attributes,
                                 pointers(argv).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), "starting " + argv[0]);
  return pid;
}

}  // namespace

command_result run_command(const std::vector<std::string>& argv,
                           const std::vector<std::string>& settings, double timeout_seconds) {
  using namespace std::chrono;
  const output_log log;
  const pid_t pid = start(argv, settings, log.fd());
  offspring::ours(pid);
  command_result result;
  const auto deadline = steady_clock::now() + duration<double>(timeout_seconds);
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) break;
    if (ended < 0 && errno != EINTR) throw_errno("waitpid");
    result.hung = result.hung || steady_clock::now() > deadline;
    if (result.hung || interrupt::signal_number() != 0) killpg(pid, SIGKILL);
    std::this_thread::sleep_for(milliseconds(20));
  }
  killpg(pid, SIGKILL);  // what it has left behind
  offspring::gone(pid);
  offspring::kill_strays();
  interrupt::check();
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.output = log.text();
  return result;
}

}  // namespace kzoo::workers
