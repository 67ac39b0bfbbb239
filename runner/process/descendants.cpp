#include "process/descendants.hpp"

#include "process/process_table.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <thread>

namespace kzoo::process::descendants {
namespace {

struct tracked {
  bool alone = false;
  bool is_held = false;
  std::set<pid_t> held;  // with it
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

// No wait is longer than this: a process in the middle of a driver's call may not end when it is
// killed, and a plugin may fork faster than its processes are killed.
constexpr std::chrono::seconds kLongestWait{10};
// Of a process that is to stop. One that waits for a slow disk, for a page of its own code say,
// stops when it has it.
constexpr std::chrono::seconds kLongestStop{60};
constexpr std::chrono::milliseconds kPause{1};

// The time for which somebody has waited who looks again and again. A machine that is busy, or
// stands still, lets this process look late: of that no look counts more than a part.
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

// When a stray dies, its own children become children of this process: hence several rounds.
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

// Whether it has stopped, or has been continued, beyond what note_change() was told. The kernel
// tells of each of its own stops and continuations, whoever causes it.
bool has_changed(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info,
                WSTOPPED | WCONTINUED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child;
}
void note_change(pid_t child, int which) {
  siginfo_t info{};
  waitid(P_PID, static_cast<id_t>(child), &info, which | WNOHANG);
}

// As stands_still(), which costs more. True also of one that has ended.
bool is_stopped_or_over(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT) !=
             0 ||
         info.si_pid == child;
}

// Calls `try_once` until it returns true; false where that is not to be expected any more.
bool is_done_soon(const auto& try_once) {
  constexpr std::chrono::microseconds kSpin{200}, kNap{50};  // few stop later than that
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

// The processes below these, and these themselves.
std::set<pid_t> with_all_below(const process_table& table, const std::vector<pid_t>& roots) {
  std::set<pid_t> all(roots.begin(), roots.end());
  for (const pid_t root : roots)
    for (const pid_t pid : table.below(root)) all.insert(pid);
  return all;
}

// One round: stops what is not. Returns whether there was nothing to stop.
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
  const auto locked = lock();
  tracked& its = known().at(child);
  note_change(child, WCONTINUED);  // by resume()
  kill(child, SIGSTOP);
  // Twice in a row, since one that was still when it was looked at may have been continued by
  // another that was not yet.
  int rounds = 0;
  const bool all_stand = is_done_soon([&] {
    if (its.alone) {
      if (is_stopped_or_over(child)) return true;
      kill(child, SIGSTOP);  // again: whatever continues it undoes one that is under way
      return false;
    }
    rounds = stop_all(child, its.held) ? rounds + 1 : 0;
    return rounds == 2;
  });
  its.is_held = is_stopped_or_over(child);
  note_change(child, WSTOPPED);
  return all_stand;
}

bool stood_still(pid_t child) {
  const auto locked = lock();
  return !known().at(child).is_held || !has_changed(child);
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
  const auto locked = lock();
  kill(child, SIGKILL);
  killpg(child, SIGKILL);
  known()[child].held.clear();  // strays again
  kill_strays();                // before the wait: the child may be waiting for one of them
  time_waited waited;
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 && waited.look() < kLongestWait) {
    std::this_thread::sleep_for(kPause);
  }
  if (ended == 0) return std::nullopt;  // still tracked, and so never waited for again
  known().erase(child);
  kill_strays();  // what its end has orphaned
  return ended == child ? std::optional(status) : std::nullopt;
}

}  // namespace kzoo::process::descendants
