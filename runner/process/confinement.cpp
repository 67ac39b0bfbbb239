#include "process/confinement.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

extern char** environ;

namespace kzoo::process::landlock {
namespace {

namespace fs = std::filesystem;

// From linux/landlock.h of newer kernels, with the same numbers on every architecture.
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

constexpr std::uint64_t kWriteFile = 1 << 1, kReadFile = 1 << 2;
constexpr std::uint64_t kRemoveAndMake = 0x1ff0;  // bits 4 to 12: remove or make files of any kind
constexpr std::uint64_t kMakeDevices = 1 << 6 | 1 << 11;  // as root could
constexpr std::uint64_t kRefer = 1 << 13;                 // since version 2
constexpr std::uint64_t kTruncate = 1 << 14;              // since version 3
constexpr std::uint64_t kControlDevice = 1 << 15;         // ioctl(), since version 5
constexpr std::uint64_t kSignals = 1 << 1;                // a scope, since version 6

// Masks rights that older kernels do not know.
constexpr std::uint64_t known_to(long version) {
  return ~((version < 2 ? kRefer : 0) | (version < 3 ? kTruncate : 0) |
           (version < 5 ? kControlDevice : 0));
}
constexpr std::uint64_t kChange = kWriteFile | kRemoveAndMake | kRefer | kTruncate;
// Rights that apply to something other than a folder.
constexpr std::uint64_t kForFiles = kWriteFile | kReadFile | kTruncate | kControlDevice;

class rule_list {
 public:
  rule_list(long version, std::uint64_t rights) {
    const ruleset wanted{rights & known_to(version), 0, version >= 6 ? kSignals : 0};
    // An older kernel takes a shorter structure.
    const std::size_t size = version >= 6 ? sizeof wanted : sizeof wanted.handled_fs;
    handled_ = wanted.handled_fs;
    fd_ = descriptor(static_cast<int>(syscall(kCreate, &wanted, size, 0)));
  }

  void allow(const fs::path& place, std::uint64_t rights) {
    const descriptor opened(open(place.c_str(), O_PATH | O_CLOEXEC));
    if (opened.fd() < 0) return;  // does not exist
    std::error_code ignored;
    if (!fs::is_directory(place, ignored)) rights &= kForFiles;
    const beneath rule{rights & handled_, opened.fd()};
    syscall(kAddRule, fd_.fd(), kBeneath, &rule, 0);
  }

  descriptor take() { return std::move(fd_); }

 private:
  std::uint64_t handled_ = 0;
  descriptor fd_;
};

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// CUDA's cache of compiled kernels, and the pipes of the Multi-Process Service (MPS).
std::vector<fs::path> folders_of_cuda() {
  fs::path cache = variable("CUDA_CACHE_PATH"), service = variable("CUDA_MPS_PIPE_DIRECTORY");
  if (const fs::path home = variable("HOME"); cache.empty() && !home.empty())
    cache = home / ".nv" / "ComputeCache";
  // The confined process could not create the cache.
  std::error_code ignored;
  if (fs::exists("/dev/nvidiactl", ignored)) fs::create_directories(cache, ignored);
  return {std::move(cache), service.empty() ? "/tmp/nvidia-mps" : std::move(service)};
}

std::vector<fs::path> places_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code fault;
  for (fs::directory_iterator at(folder, fault), end; !fault && at != end; at.increment(fault))
    found.push_back(at->path());
  return found;
}

// Whether a device in /dev is memory, random numbers, or a GPU as NVIDIA's drivers name it on
// servers, under Windows or on Jetson.
bool is_harmless(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames{"null",    "zero", "full", "random",
                                                   "urandom", "dxg",  "nvmap"};
  constexpr std::array<std::string_view, 3> kPrefixes{"nvidia", "nvhost", "nvgpu"};
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kPrefixes, [&](std::string_view p) { return name.starts_with(p); });
}

}  // namespace

descriptor rules(const confinement& c) {
  const long version = syscall(kCreate, nullptr, std::size_t{0}, kAskVersion);
  if (version < 1) return {};
  // Rules only add rights. Allowing each folder of / except /dev by name makes /dev unreadable.
  const std::vector<fs::path> all = places_in("/");
  rule_list list(version, kChange | kControlDevice | (all.empty() ? 0 : kReadFile));
  for (const fs::path& place : all)
    if (place != "/dev") list.allow(place, kReadFile);
  for (const fs::path& device : places_in("/dev"))
    if (is_harmless(device.filename().string()))
      list.allow(device, kWriteFile | kReadFile | kTruncate | kControlDevice);
  const std::vector<fs::path> shared(c.shares_memory ? 1 : 0, "/dev/shm");
  for (const auto& places : {c.writable, folders_of_cuda(), shared})
    for (const fs::path& place : places) list.allow(place, (kChange & ~kMakeDevices) | kReadFile);
  if (c.writes_in_proc) list.allow("/proc", kWriteFile | kTruncate | kReadFile);
  return list.take();
}

int obey(int rules) {
  const int own = open("/proc/self", O_PATH | O_DIRECTORY);
  const beneath rule{kWriteFile | kTruncate, own};
  if (syscall(kAddRule, rules, kBeneath, &rule, 0) != 0) {  // Landlock before version 3 lacks
                                                            // kTruncate
    const beneath older{kWriteFile, own};
    syscall(kAddRule, rules, kBeneath, &older, 0);
  }
  return syscall(kRestrict, rules, 0) == 0 ? own : -1;
}

}  // namespace kzoo::process::landlock

namespace kzoo::process {
namespace {

constexpr std::array<std::string_view, 30> kUsual{
    // Programs, and where they find files.
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LD_*", "TZ",
    // Languages of messages, formats of numbers.
    "LANG", "LANGUAGE", "LC_*",
    // CUDA, its libraries and its tools.
    "CUDA_*", "CUBLAS_*", "CUBLASLT_*", "NVIDIA_*",
    // Number and placement of threads in host libraries.
    "OMP_*", "GOMP_*", "KMP_*", "OPENBLAS_*", "GOTO_*", "MKL_*", "BLIS_*", "MALLOC_*",
    "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
    // Settings between processes of this program.
    "KZOO_*"};

constexpr std::array<std::string_view, 5> kOfProfilers{"NSYS_*", "NVTX_*", "QUADD_*", "OSRT_*",
                                                       "NV_*"};
constexpr std::array<std::string_view, 4> kSecrets{"TOKEN", "SECRET", "PASSWORD", "KEY"};

bool matches(std::string_view name, std::string_view pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  if (pattern.starts_with('*')) return name.ends_with(pattern.substr(1));
  return name == pattern;
}

bool matches_any(std::string_view name, const auto& patterns) {
  return std::ranges::any_of(patterns,
                             [&](std::string_view pattern) { return matches(name, pattern); });
}

bool is_secret(std::string_view name) {
  return std::ranges::any_of(
      kSecrets, [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

std::vector<std::string_view> passed_by_user() {
  const char* list = std::getenv("KZOO_PASS");
  std::vector<std::string_view> names;
  for (std::string_view left = list == nullptr ? "" : list; !left.empty();) {
    const auto end = std::min(left.find(','), left.size());
    if (end > 0) names.push_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return names;
}

std::vector<std::string> chosen(const std::vector<std::string>& settings, const auto& is_chosen) {
  std::vector<std::string> all = settings;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('='));
    const bool is_replaced = std::ranges::any_of(
        settings, [&](std::string_view s) { return s.substr(0, s.find('=')) == name; });
    if (!is_replaced && is_chosen(name)) all.emplace_back(text);
  }
  return all;
}

}  // namespace

std::vector<std::string> whole_environment(const std::vector<std::string>& settings) {
  return chosen(settings, [](std::string_view) { return true; });
}

std::vector<std::string> clean_environment(const std::vector<std::string>& settings,
                                           const std::vector<std::string_view>& variables) {
  const std::vector<std::string_view> asked = passed_by_user();
  return chosen(settings, [&](std::string_view name) {
    if (std::ranges::find(asked, name) != asked.end()) return true;
    if (is_secret(name)) return false;
    return matches_any(name, kUsual) || matches_any(name, variables) || matches_any(name, asked) ||
           (has_profiler() && matches_any(name, kOfProfilers));
  });
}

bool has_profiler() {
  return std::getenv("NSYS_PROFILING_SESSION_ID") != nullptr ||
         std::getenv("NVTX_INJECTION64_PATH") != nullptr;
}

}  // namespace kzoo::process
