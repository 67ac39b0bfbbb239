#include "process/command.hpp"

#include "os/interrupt.hpp"
#include "process/descendants.hpp"
#include "process/output_log.hpp"
#include "process/spawn.hpp"

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
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
  siginfo_t info{};
  // WNOWAIT: descendants::end() waits for it.
  while (waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid != pid) {
    result.hung = steady_clock::now() > deadline;
    if (result.hung || interrupt::signal_number() != 0) break;
    std::this_thread::sleep_for(milliseconds(20));
  }
  const int status = descendants::end(pid).value_or(SIGKILL);
  interrupt::check();
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.output = log.text();
  return result;
}

std::string how_it_failed(const command_result& result, double timeout_seconds) {
  return result.hung ? fmt::format("took {:g} seconds and was given up", timeout_seconds)
                     : fmt::format("ended with code {}", result.code);
}

}  // namespace kzoo::process
