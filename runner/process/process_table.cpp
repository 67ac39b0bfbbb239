#include "process/process_table.hpp"

#include "os/posix.hpp"
#include "os/text.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>
#include <system_error>
#include <thread>

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
  std::vector<pid_t> pids;
  std::error_code ended;
  std::filesystem::directory_iterator entries(folder, ended);
  for (; !ended && entries != std::filesystem::directory_iterator(); entries.increment(ended)) {
    if (const auto number = number_from<pid_t>(entries->path().filename().string()))
      pids.push_back(*number);
  }
  return pids;
}

struct state {
  char letter = 'X';  // as if it had ended
  pid_t parent = 0;
};

// From "PID (NAME) STATE PPID …"; NAME may contain spaces and parentheses.
state state_in(const std::string& folder) {
  const std::string line = contents_of(folder + "/stat");
  state process;
  const auto name_end = line.rfind(") ");
  constexpr std::size_t kStateLength = 4;  // ") S "
  if (name_end == std::string::npos || name_end + kStateLength >= line.size()) return process;
  process.letter = line[name_end + 2];
  std::from_chars(line.data() + name_end + kStateLength, line.data() + line.size(), process.parent);
  return process;
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
  std::vector<pid_t> children;
  if (by_parent_) {
    const auto [first, last] = by_parent_->equal_range(process);
    for (auto child = first; child != last; ++child) children.push_back(child->second);
    return children;
  }
  const std::string threads = fmt::format("/proc/{}/task", process);
  for (const pid_t thread : numbers_in(threads)) {
    const std::string list = contents_of(fmt::format("{}/{}/children", threads, thread));
    for (const std::string_view child : parts_of(list, ' '))
      if (const auto pid = number_from<pid_t>(child)) children.push_back(*pid);
  }
  return children;
}

std::vector<pid_t> process_table::below(pid_t process) const {
  std::vector<pid_t> descendants = children_of(process);
  for (std::size_t i = 0; i < descendants.size(); ++i) {
    const std::vector<pid_t> more = children_of(descendants[i]);
    descendants.insert(descendants.end(), more.begin(), more.end());
  }
  return descendants;
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
  const auto set_back = [&](std::string_view setting, bool differs, const auto& call) {
    if (!differs) return;
    add_once(result.changed, setting);
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

namespace kzoo::process::descendants {
namespace {

struct tracked {
  bool alone = false;
  bool is_held = false;
  std::set<pid_t> held;  // the processes stopped with it
};

std::map<pid_t, tracked>& known() {
  static std::map<pid_t, tracked> pids;
  return pids;
}

std::set<pid_t>& older() {
  static std::set<pid_t> pids;
  return pids;
}

std::vector<pid_t> strays(const process_table& table) {
  std::vector<pid_t> found = table.children_of(getpid());
  std::erase_if(found, [](pid_t pid) {
    return known().contains(pid) || older().contains(pid) ||
           std::ranges::any_of(known(), [&](const auto& k) { return k.second.held.contains(pid); });
  });
  return found;
}

// The longest wait. A killed process may not end during a driver's call, and a plugin may fork
// faster than its processes are killed.
constexpr std::chrono::seconds kLongestWait{10};
// The longest wait for a stop: a slow disk may delay it.
constexpr std::chrono::seconds kLongestStop{60};
constexpr std::chrono::milliseconds kPause{1};

// Time spent polling. Each look adds at most kMost: a busy machine delays looks.
class time_waited {
 public:
  std::chrono::nanoseconds look() {
    constexpr std::chrono::milliseconds kMost{20};
    const auto now = std::chrono::steady_clock::now();
    waited_ += std::min<std::chrono::nanoseconds>(now - last_, kMost);
    last_ = now;
    return waited_;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::chrono::nanoseconds waited_{0};
};

// Repeats, since the children of a killed stray become children of this process.
void kill_strays() {
  time_waited waited;
  for (;;) {
    bool all_ended = true;
    const std::vector<pid_t> found = strays(process_table());
    for (const pid_t pid : found) {
      kill(pid, SIGKILL);
      all_ended = waitpid(pid, nullptr, WNOHANG) == pid && all_ended;
    }
    if (found.empty() || waited.look() > kLongestWait) return;
    if (!all_ended) std::this_thread::sleep_for(kPause);
  }
}

// Takes such a change, so that has_changed() tells of later ones only.
void take_change(pid_t child, int which) {
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, which | WNOHANG);
}

// A cheaper stands_still(). True also if the child has ended.
bool is_stopped_or_over(pid_t child) { return has_changed(child, WSTOPPED | WEXITED, true); }

// Calls `try_once` until it returns true. Returns false after kLongestStop.
bool is_done_soon(const auto& try_once) {
  constexpr std::chrono::microseconds kSpin{200}, kNap{50};  // few processes need longer to stop
  time_waited waited;
  while (!try_once()) {
    const auto so_far = waited.look();
    if (so_far > kLongestStop) return false;
    if (so_far < kSpin) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }
  return true;
}

// The processes `roots` and all below them.
std::set<pid_t> with_all_below(const process_table& table, const std::vector<pid_t>& roots) {
  std::set<pid_t> all(roots.begin(), roots.end());
  for (const pid_t root : roots)
    for (const pid_t pid : table.below(root)) all.insert(pid);
  return all;
}

// Stops all running processes once. Returns whether everything stood still.
bool stop_all(pid_t child, std::set<pid_t>& held) {
  const process_table table;
  std::vector<pid_t> roots = strays(table);
  for (const pid_t pid : held) roots.push_back(pid);
  roots.push_back(child);
  std::set<pid_t> all = with_all_below(table, roots);
  all.erase(child);
  bool none = stands_still(child);
  if (!none) kill(child, SIGSTOP);
  for (const pid_t pid : all) {
    if (held.insert(pid).second || !stands_still(pid)) {
      kill(pid, SIGSTOP);
      none = false;
    }
  }
  return none;
}

}  // namespace

bool has_changed(pid_t child, int changes, bool if_none) {
  siginfo_t info{};
  const bool is_child =
      waitid(P_PID, static_cast<id_t>(child), &info, changes | WNOHANG | WNOWAIT) == 0;
  return is_child ? info.si_pid == child : if_none;
}

void adopt() {
  static const bool once = [] {
    const std::vector<pid_t> now = process_table().children_of(getpid());
    older() = {now.begin(), now.end()};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return true;
  }();
  static_cast<void>(once);
}

std::unique_lock<std::mutex> lock() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

void track(pid_t child, bool alone) { known()[child] = {alone, false, {}}; }

std::set<pid_t> below_with_orphans(pid_t child) {
  const auto locked = lock();
  const process_table table;
  std::vector<pid_t> roots = strays(table);
  roots.push_back(child);
  std::set<pid_t> all = with_all_below(table, roots);
  all.erase(child);
  return all;
}

std::vector<pid_t> below(pid_t root) { return process_table().below(root); }

bool hold(pid_t child) {
  auto locked = lock();
  tracked& its = known().at(child);
  if (its.alone) locked.unlock();  // a thread in a driver's call takes long to stop
  take_change(child, WCONTINUED);  // consumes the event of resume()
  kill(child, SIGSTOP);
  // Two quiet rounds in a row: a process not yet stopped may have continued another.
  int rounds = 0;
  const bool all_stand = is_done_soon([&] {
    if (its.alone) {
      if (is_stopped_or_over(child)) return true;
      kill(child, SIGSTOP);  // again: a continuation cancels a pending stop
      return false;
    }
    rounds = stop_all(child, its.held) ? rounds + 1 : 0;
    return rounds == 2;
  });
  its.is_held = is_stopped_or_over(child);
  take_change(child, WSTOPPED);
  return all_stand;
}

bool stood_still(pid_t child) {
  const auto locked = lock();
  return !known().at(child).is_held || !has_changed(child, WSTOPPED | WCONTINUED, false);
}

void resume(pid_t child) {
  const auto locked = lock();
  tracked& its = known().at(child);
  kill(child, SIGCONT);
  for (const pid_t pid : its.held) kill(pid, SIGCONT);
  its.held.clear();
  its.is_held = false;
}

std::optional<int> end(pid_t child) {
  auto locked = lock();
  tracked& its = known()[child];
  kill(child, SIGKILL);
  killpg(child, SIGKILL);
  its.held.clear();  // they are strays again
  if (its.alone) {
    locked.unlock();  // a driver takes long to end a process
  } else {
    kill_strays();  // before the wait: the child may wait for a stray
  }
  time_waited waited;
  while (!has_changed(child, WEXITED, true) && waited.look() < kLongestWait)
    std::this_thread::sleep_for(kPause);
  if (!locked.owns_lock()) locked.lock();  // until its pid, which is free then, is forgotten
  int status = 0;
  const pid_t ended = waitpid(child, &status, WNOHANG);
  if (ended == 0) return std::nullopt;  // still tracked, so it never counts as a stray
  const bool had_others = !its.alone;
  known().erase(child);
  if (had_others) kill_strays();  // orphans of the child
  return ended == child ? std::optional(status) : std::nullopt;
}

}  // namespace kzoo::process::descendants
