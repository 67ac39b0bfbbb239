#include "process/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace kzoo::process {

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
  std::error_code ended;
  std::filesystem::directory_iterator tasks(fmt::format("/proc/{}/task", pid), ended);
  for (; !ended && tasks != std::filesystem::directory_iterator(); tasks.increment(ended)) {
    const std::string name = tasks->path().filename();
    pid_t id = 0;
    std::from_chars(name.data(), name.data() + name.size(), id);
    now.threads_.push_back(of_thread(id));
  }
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

}  // namespace kzoo::process
