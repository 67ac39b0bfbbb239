#include "support/terminal.hpp"

#include "support/paths.hpp"

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>

namespace kzoo::test {

run_result on_terminal(const std::string& arguments, int columns, const std::string& setting) {
  const scratch_folder folder;
  const std::string command = "cd " + shell_word(folder.path()) + " && " + setting + " exec " +
                              shell_word(runner_program()) + ' ' + arguments;
  const winsize size{24, static_cast<unsigned short>(columns), 0, 0};
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child < 0) throw std::runtime_error("forkpty");
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  run_result result;
  std::array<char, 4096> part{};
  for (ssize_t n = 0; (n = read(terminal, part.data(), part.size())) > 0 || errno == EINTR;) {
    if (n > 0) result.out.append(part.data(), static_cast<std::size_t>(n));
  }
  close(terminal);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0, width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n' || byte == '\r') {
      width = 0;
    } else if (byte == 0x1b) {
      i = text.find_first_of("mK", i);
    } else if ((byte & 0xc0u) != 0x80) {
      widest = std::max(widest, ++width);
    }
  }
  return widest;
}

}  // namespace kzoo::test
