#include "support/slurm_cluster.hpp"

#include "support/paths.hpp"
#include "support/skip.hpp"

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace kzoo::test {
namespace {

constexpr int kSkipped = 77;

int script(const std::string& arguments) {
  const std::string file = (source_folder() / "tests" / "support" / "slurm_cluster.sh").string();
  const int status = std::system((shell_word(file) + ' ' + arguments).c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

slurm_cluster::slurm_cluster() : config_("SLURM_CONF", (folder_.path() / "slurm.conf").string()) {
  const int code = script(fmt::format("start {} {}", folder_.path().string(), getpid()));
  if (code == kSkipped) skip("Slurm does not run here");
  if (code != 0) throw std::runtime_error("slurm_cluster.sh failed");
}

slurm_cluster::~slurm_cluster() { script("stop " + folder_.path().string()); }

std::string slurm_cluster::ask(const std::string& command) {
  std::string text;
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> piece{};
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) text += piece.data();
  pclose(pipe);
  return text;
}

void slurm_cluster::lose_node_of(int pid) const {
  if (script(fmt::format("lose {} {}", folder_.path().string(), pid)) != 0)
    throw std::runtime_error("slurm_cluster.sh lose failed");
}

}  // namespace kzoo::test
