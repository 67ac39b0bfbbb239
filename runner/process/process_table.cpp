#include "process/process_table.hpp"

#include "os/posix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>

namespace kzoo::process {
namespace {

std::string contents_of(const std::string& file) {
  const descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::string all;
  std::array<char, 1024> bytes;
  for (ssize_t n = 0; (n = read(opened.fd(), bytes.data(), bytes.size())) > 0;)
    all.append(bytes.data(), static_cast<std::size_t>(n));
  return all;
}

// The numeric entries of a folder in /proc: processes, or threads of a process.
std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> found;
  std::error_code ended;
  std::filesystem::directory_iterator entries(folder, ended);
  for (; !ended && entries != std::filesystem::directory_iterator(); entries.increment(ended)) {
    const std::string name = entries->path().filename().string();
    pid_t number = 0;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (fault == std::errc{} && end == name.data() + name.size()) found.push_back(number);
  }
  return found;
}

struct state {
  char letter = 'X';  // as if it had ended
  pid_t parent = 0;
};

// From "PID (NAME) STATE PPID …"; NAME may contain spaces and parentheses.
state state_in(const std::string& folder) {
  const std::string line = contents_of(folder + "/stat");
  state found;
  const auto name_end = line.rfind(") ");
  constexpr std::size_t kStateLength = 4;  // ") S "
  if (name_end == std::string::npos || name_end + kStateLength >= line.size()) return found;
  found.letter = line[name_end + 2];
  std::from_chars(line.data() + name_end + kStateLength, line.data() + line.size(), found.parent);
  return found;
}

bool lists_children() {
  static const bool does =
      access(fmt::format("/proc/self/task/{}/children", gettid()).c_str(), R_OK) == 0;
  return does;
}

}  // namespace

process_table::process_table() {
  if (lists_children()) return;
  by_parent_.emplace();
  for (const pid_t pid : numbers_in("/proc"))
    by_parent_->emplace(state_in(fmt::format("/proc/{}", pid)).parent, pid);
}

std::vector<pid_t> process_table::children_of(pid_t process) const {
  std::vector<pid_t> found;
  if (by_parent_) {
    const auto [first, last] = by_parent_->equal_range(process);
    for (auto child = first; child != last; ++child) found.push_back(child->second);
    return found;
  }
  const std::string threads = fmt::format("/proc/{}/task", process);
  for (const pid_t thread : numbers_in(threads)) {
    const std::string list = contents_of(fmt::format("{}/{}/children", threads, thread));
    const char* at = list.data();
    const char* const end = at + list.size();
    for (pid_t child = 0; at != end; ++at) {  // skips the space
      const auto [next, fault] = std::from_chars(at, end, child);
      if (fault != std::errc{}) break;
      found.push_back(child);
      at = next;
      if (at == end) break;
    }
  }
  return found;
}

std::vector<pid_t> process_table::below(pid_t process) const {
  std::vector<pid_t> found = children_of(process);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t> more = children_of(found[i]);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

bool stands_still(pid_t process) {
  constexpr std::string_view kStill = "TtZXD";
  const std::string threads = fmt::format("/proc/{}/task", process);
  return std::ranges::all_of(numbers_in(threads), [&](pid_t thread) {
    return kStill.find(state_in(fmt::format("{}/{}", threads, thread)).letter) !=
           std::string_view::npos;
  });
}

double resident_bytes(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  double bytes = 0;
  for (std::string name; status >> name;) {
    double kibibytes = 0;
    if ((name == "RssAnon:" || name == "RssShmem:") && status >> kibibytes)
      bytes += 1024 * kibibytes;
    std::getline(status, name);
  }
  return bytes;
}

settings::thread settings::of_thread(pid_t id) {
  thread t;
  t.id = id;
  sched_getaffinity(id, sizeof t.processors, &t.processors);
  t.policy = sched_getscheduler(id);
  sched_getparam(id, &t.priority);
  t.niceness = getpriority(PRIO_PROCESS, static_cast<id_t>(id));
  return t;
}

settings settings::of(pid_t pid) {
  settings now;
  now.pid_ = pid;
  for (int i = 0; i < RLIMIT_NLIMITS; ++i)
    prlimit(pid, static_cast<__rlimit_resource>(i), nullptr, &now.limits_[std::size_t(i)]);
  for (const pid_t id : numbers_in(fmt::format("/proc/{}/task", pid)))
    now.threads_.push_back(of_thread(id));
  return now;
}

settings::restored settings::restore() const {
  restored result;
  std::vector<std::string_view> changed;
  const auto set_back = [&](std::string_view what, bool differs, const auto& call) {
    if (!differs) return;
    if (std::ranges::find(changed, what) == changed.end()) changed.emplace_back(what);
    if (call() != 0) result.all = false;
  };
  for (int i = 0; i < RLIMIT_NLIMITS; ++i) {
    const auto resource = static_cast<__rlimit_resource>(i);
    const rlimit& was = limits_[std::size_t(i)];
    rlimit now = was;
    prlimit(pid_, resource, nullptr, &now);  // unchanged if it has ended
    set_back("limits", now.rlim_cur != was.rlim_cur || now.rlim_max != was.rlim_max,
             [&] { return prlimit(pid_, resource, &was, nullptr); });
  }
  for (const thread& was : threads_) {
    const thread now = of_thread(was.id);
    if (now.policy < 0) continue;  // it has ended
    set_back("processors", !CPU_EQUAL(&now.processors, &was.processors),
             [&] { return sched_setaffinity(was.id, sizeof was.processors, &was.processors); });
    set_back("scheduling",
             now.policy != was.policy || now.priority.sched_priority != was.priority.sched_priority,
             [&] { return sched_setscheduler(was.id, was.policy, &was.priority); });
    set_back("niceness", now.niceness != was.niceness,
             [&] { return setpriority(PRIO_PROCESS, static_cast<id_t>(was.id), was.niceness); });
  }
  result.changed = fmt::format("{}", fmt::join(changed, ", "));
  return result;
}

settings::restored restore_own_settings() {
  static settings known = settings::of(getpid());
  settings::restored result = known.restore();
  if (!result.all) known = settings::of(getpid());  // the next caller is not to blame
  return result;
}

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<std::size_t>::max();
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

}  // namespace kzoo::process
