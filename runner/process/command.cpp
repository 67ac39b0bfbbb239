#include "process/command.hpp"

#include "os/files.hpp"
#include "os/text.hpp"
#include "process/child.hpp"
#include "process/messages.hpp"
#include "process/process_table.hpp"

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <limits>
#include <map>
#include <set>
#include <thread>

namespace kzoo::process {
namespace {

pid_t start(const std::vector<std::string>& argv, const std::vector<std::string>& settings,
            const output_log& log, const confinement* confined) {
  const std::array<given_descriptor, 2> output{given_descriptor{log.fd(), STDOUT_FILENO},
                                               given_descriptor{log.fd(), STDERR_FILENO}};
  return spawn(argv.front(), argv, output, settings, confined);
}

// Checks limits on all processes of a child together, which the kernel does not enforce.
std::string exceeded_by(pid_t pid, const confinement& c) {
  const std::set<pid_t> below = descendants::below_with_orphans(pid);
  if (c.most_processes != 0 && below.size() >= c.most_processes)
    return fmt::format("started more than {} processes", c.most_processes);
  if (c.held_bytes == 0) return "";
  double held = resident_bytes(pid);
  for (const pid_t each : below) held += resident_bytes(each);
  if (held <= double(c.held_bytes)) return "";
  return fmt::format("needed more than {:.1f} GB of memory", double(c.held_bytes) / 1e9);
}

command_result result_of(pid_t pid, const output_log& log, const confinement* confined,
                         double timeout_seconds) {
  using namespace std::chrono;
  constexpr milliseconds kPause{20}, kWatch{100};
  constexpr std::size_t kAll = std::numeric_limits<long>::max();
  command_result result;
  const auto deadline = steady_clock::now() + duration<double>(timeout_seconds);
  auto look = steady_clock::now() + kWatch;
  while (!descendants::has_changed(pid, WEXITED, true)) {  // descendants::end() reaps it
    result.hung = steady_clock::now() > deadline;
    if (confined != nullptr && steady_clock::now() > look) {
      result.exceeded = exceeded_by(pid, *confined);
      look += kWatch;
    }
    if (result.hung || !result.exceeded.empty() || interrupt::signal_number() != 0) break;
    std::this_thread::sleep_for(kPause);
  }
  const int status = descendants::end(pid).value_or(SIGKILL);
  interrupt::check();
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.output = log.text(confined == nullptr ? kAll : confined->kept_output);
  return result;
}

}  // namespace

command_result run_command(const std::vector<std::string>& argv,
                           const std::vector<std::string>& settings, double timeout_seconds) {
  const output_log log;
  return result_of(start(argv, settings, log, nullptr), log, nullptr, timeout_seconds);
}

command_result run_confined(const std::vector<std::string>& argv,
                            const std::vector<std::string>& settings, confinement confined,
                            double timeout_seconds) {
  const output_log log;
  const temporary_folder own;
  confined.writable.push_back(own.path());
  std::vector<std::string> with_own = settings;
  with_own.push_back("TMPDIR=" + own.path().string());
  return result_of(start(argv, with_own, log, &confined), log, &confined, timeout_seconds);
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
  std::string last;
  for (const std::string& line : lines_of(output)) {
    if (has_part(line, "error")) return line;
    if (!line.empty()) last = line;
  }
  return last;
}

std::string how_it_failed(const command_result& result, double timeout_seconds) {
  constexpr int kSignalled = 128;
  if (result.hung) return fmt::format("took {:g} seconds and was given up", timeout_seconds);
  if (!result.exceeded.empty()) return result.exceeded + " and was given up";
  if (result.code > kSignalled) return "ended with " + signal_words(result.code - kSignalled);
  return fmt::format("ended with code {}", result.code);
}

}  // namespace kzoo::process
