#include "process/command.hpp"

#include "os/folders.hpp"
#include "os/interrupt.hpp"
#include "process/confinement.hpp"
#include "process/descendants.hpp"
#include "process/output_log.hpp"
#include "process/spawn.hpp"

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <future>
#include <map>
#include <sstream>
#include <thread>

namespace kzoo::process {
namespace {

pid_t start(const std::vector<std::string>& argv, const std::vector<std::string>& settings,
            const output_log& log) {
  const std::array<given_descriptor, 2> output{given_descriptor{log.fd(), STDOUT_FILENO},
                                               given_descriptor{log.fd(), STDERR_FILENO}};
  return spawn(argv.front(), argv, output, settings);
}

command_result result_of(pid_t pid, const output_log& log, double timeout_seconds) {
  using namespace std::chrono;
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

}  // namespace

command_result run_command(const std::vector<std::string>& argv,
                           const std::vector<std::string>& settings, double timeout_seconds) {
  const output_log log;
  return result_of(start(argv, settings, log), log, timeout_seconds);
}

command_result run_confined(const std::vector<std::string>& argv,
                            const std::vector<std::string>& settings,
                            const std::vector<std::filesystem::path>& writable,
                            double timeout_seconds) {
  const output_log log;
  const temporary_folder own;
  const auto start_confined = [&] {
    std::vector<std::filesystem::path> all = writable;
    all.push_back(own.path());
    confine(all);
    std::vector<std::string> with_own = settings;
    with_own.push_back("TMPDIR=" + own.path().string());
    return start(argv, with_own, log);
  };
  // A process starts as confined as the thread that starts it, and stays so.
  const pid_t pid = std::async(std::launch::async, start_confined).get();
  return result_of(pid, log, timeout_seconds);
}

std::string signal_words(int number) {
  static const std::map<int, const char*> kMeanings{
      {SIGSEGV, ", an access to memory that is not there"},
      {SIGBUS, ", an access to memory that is not there or not aligned"},
      {SIGABRT, ", the plugin called abort() or a failed assert did"},
      {SIGFPE, ", an integer division by zero or another arithmetic trap"},
      {SIGILL, ", a trap, or an instruction that this processor does not have"},
      {SIGKILL, ", killed from outside, perhaps for want of memory"}};
  const auto meaning = kMeanings.find(number);
  return fmt::format("SIG{}{}", sigabbrev_np(number),
                     meaning == kMeanings.end() ? "" : meaning->second);
}

std::string first_error_in(const std::string& output) {
  std::istringstream in(output);
  std::string line, last;
  while (std::getline(in, line)) {
    if (line.find("error") != std::string::npos) return line;
    if (!line.empty()) last = line;
  }
  return last;
}

std::string how_it_failed(const command_result& result, double timeout_seconds) {
  constexpr int kSignalled = 128;
  if (result.hung) return fmt::format("took {:g} seconds and was given up", timeout_seconds);
  if (result.code > kSignalled) return "ended with " + signal_words(result.code - kSignalled);
  return fmt::format("ended with code {}", result.code);
}

}  // namespace kzoo::process
