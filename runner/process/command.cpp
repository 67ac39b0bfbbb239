#include "process/command.hpp"

#include "core/interrupt.hpp"
#include "core/throw_errno.hpp"
#include "process/descendants.hpp"
#include "process/output_log.hpp"
#include "process/spawn.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

namespace kzoo::process {

command_result run_command(const std::vector<std::string>& argv,
                           const std::vector<std::string>& settings, double timeout_seconds) {
  using namespace std::chrono;
  const output_log log;
  const std::array<given_descriptor, 2> output{given_descriptor{log.fd(), STDOUT_FILENO},
                                               given_descriptor{log.fd(), STDERR_FILENO}};
  const pid_t pid = spawn(argv.front(), argv, output, settings);
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
  killpg(pid, SIGKILL);  // whatever it left running
  descendants::forget(pid);
  descendants::kill_strays();
  interrupt::check();
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.output = log.text();
  return result;
}

}  // namespace kzoo::process
