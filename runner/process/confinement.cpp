#include "process/confinement.hpp"

#include "os/posix.hpp"
#include "process/refused_calls.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace kzoo::process {
namespace {

namespace fs = std::filesystem;

// The kernel's interface, of which the headers of older distributions have only a part:
// linux/landlock.h, whose numbers are the same on every architecture.
namespace landlock {

constexpr long kCreate = 444, kAddRule = 445, kRestrict = 446;
constexpr std::uint32_t kAskVersion = 1;
constexpr int kBeneath = 1;

struct ruleset {
  std::uint64_t handled_fs, handled_net, scoped;
};
struct __attribute__((packed)) beneath {
  std::uint64_t allowed;
  std::int32_t folder;
};

constexpr std::uint64_t kWriteFile = 1 << 1;
constexpr std::uint64_t kRemoveAndMake = 0x1ff0;  // bits 4 to 12: remove or make files of any kind
constexpr std::uint64_t kRefer = 1 << 13;         // since version 2
constexpr std::uint64_t kTruncate = 1 << 14;      // since version 3
constexpr std::uint64_t kSignals = 1 << 1;        // a scope, since version 6

constexpr std::uint64_t writes(long version) {
  return kWriteFile | kRemoveAndMake | (version >= 2 ? kRefer : 0) | (version >= 3 ? kTruncate : 0);
}
// Those that can be allowed for something that is no folder.
constexpr std::uint64_t kForFiles = kWriteFile | kTruncate;

}  // namespace landlock

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// What CUDA writes: compiled kernels, and where the Multi-Process Service runs, to that.
std::vector<fs::path> folders_of_cuda() {
  fs::path cache = variable("CUDA_CACHE_PATH"), service = variable("CUDA_MPS_PIPE_DIRECTORY");
  if (const fs::path home = variable("HOME"); cache.empty() && !home.empty())
    cache = home / ".nv" / "ComputeCache";
  // CUDA could not make it any more.
  std::error_code ignored;
  if (fs::exists("/dev/nvidiactl", ignored)) fs::create_directories(cache, ignored);
  return {std::move(cache), service.empty() ? "/tmp/nvidia-mps" : std::move(service)};
}

void allow(int rules, const fs::path& place, std::uint64_t rights) {
  const descriptor folder(open(place.c_str(), O_PATH | O_CLOEXEC));
  if (folder.fd() < 0) return;  // it is not there
  std::error_code ignored;
  if (!fs::is_directory(place, ignored)) rights &= landlock::kForFiles;
  const landlock::beneath rule{rights, folder.fd()};
  syscall(landlock::kAddRule, rules, landlock::kBeneath, &rule, 0);
}

void restrict_files(const std::vector<fs::path>& writable) {
  const long version = syscall(landlock::kCreate, nullptr, std::size_t{0}, landlock::kAskVersion);
  if (version < 1) return;
  const landlock::ruleset wanted{landlock::writes(version), 0,
                                 version >= 6 ? landlock::kSignals : 0};
  // An older kernel takes a shorter structure.
  const std::size_t size = version >= 6 ? sizeof wanted : sizeof wanted.handled_fs;
  const descriptor rules(static_cast<int>(syscall(landlock::kCreate, &wanted, size, 0)));
  if (rules.fd() < 0) return;
  for (const auto& places : {writable, folders_of_cuda(), {"/dev", "/proc"}})
    for (const fs::path& place : places) allow(rules.fd(), place, wanted.handled_fs);
  syscall(landlock::kRestrict, rules.fd(), 0);
}

}  // namespace

void confine(const std::vector<fs::path>& writable) {
  // A condition of both: programs started from here gain no rights by setuid.
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  restrict_files(writable);
  refuse_calls();
}

}  // namespace kzoo::process
