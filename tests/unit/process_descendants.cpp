// Children that are stopped between their turns, with whatever they have started.
#include "process/child.hpp"
#include "process/process_table.hpp"

#include "support/catch.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace descendants = kzoo::process::descendants;
using kzoo::process::process_table;

namespace {

// Processor time that the process has taken, in ticks of the kernel.
long ticks(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  line.erase(0, line.rfind(") ") + 2);
  std::vector<std::string> fields{""};
  for (const char c : line) c == ' ' ? fields.emplace_back() : fields.back() += c, void();
  constexpr std::size_t kUser = 11, kSystem = 12;
  return fields.size() > kSystem ? std::stol(fields[kUser]) + std::stol(fields[kSystem]) : 0;
}

long ticks(const std::vector<pid_t>& all) {
  long sum = 0;
  for (const pid_t pid : all) sum += ticks(pid);
  return sum;
}

void wait_until(const auto& true_now) {
  for (int i = 0; i < 1000 && !true_now(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE(true_now());
}

void a_moment() { std::this_thread::sleep_for(std::chrono::milliseconds(150)); }

std::vector<pid_t> children() { return process_table().children_of(getpid()); }

// Those of its processes that burn: it itself only waits.
std::vector<pid_t> burners_of(pid_t child, const std::vector<pid_t>& before) {
  std::vector<pid_t> found = descendants::below(child);
  for (const pid_t pid : children())
    if (pid != child && std::ranges::find(before, pid) == before.end()) found.push_back(pid);
  return found;
}

}  // namespace

TEST_CASE("a child is held with what has left its group, its session and its family", "[process]") {
  const auto before = children();
  // One child of its own, one in a session of its own, and one whose parent ends.
  const std::string burn = "while :; do :; done";
  const pid_t child =
      kzoo::process::spawn("sh",
                           {"sh", "-c",
                            "(" + burn + ") & setsid sh -c '" + burn + "' & setsid sh -c '(" +
                                burn + ") & exit 0' & wait %3; wait"},
                           {}, {}, nullptr);
  wait_until([&] {
    const auto all = burners_of(child, before);
    return std::ranges::count_if(all, [](pid_t pid) { return ticks(pid) > 2; }) == 3;
  });
  const auto burners = burners_of(child, before);
  for (int turn = 0; turn < 3; ++turn) {
    CHECK(descendants::hold(child));
    const long held = ticks(burners);
    a_moment();
    CHECK(ticks(burners) == held);
    CHECK(descendants::stood_still(child));
    descendants::resume(child);
    wait_until([&] { return ticks(burners) > held; });
  }
  CHECK(descendants::hold(child));
  CHECK(descendants::end(child));
  CHECK(children() == before);
}

TEST_CASE("what forks without end is held, and what is held continues nothing", "[process]") {
  const auto before = children();
  const pid_t child = kzoo::process::spawn(
      "sh",
      {"sh", "-c",
       "(while :; do (:) ; done) & (while :; do kill -CONT 0; done) & while :; do sh -c :; done"},
      {}, {}, nullptr);
  wait_until([&] { return descendants::below(child).size() >= 2; });
  for (int turn = 0; turn < 5; ++turn) {
    REQUIRE(descendants::hold(child));
    const auto all = burners_of(child, before);
    const long held = ticks(all);
    a_moment();
    CHECK(burners_of(child, before) == all);
    CHECK(ticks(all) == held);
    descendants::resume(child);
  }
  CHECK(descendants::end(child));
  CHECK(children() == before);
}

TEST_CASE("what is held with one child is not stopped or killed with another", "[process]") {
  const auto before = children();
  const pid_t child =
      kzoo::process::spawn("sh", {"sh", "-c", "(sleep 600 &) ; sleep 600"}, {}, {}, nullptr);
  wait_until([&] { return children().size() == before.size() + 2; });
  CHECK(descendants::hold(child));
  const pid_t other = kzoo::process::spawn("sleep", {"sleep", "600"}, {}, {}, nullptr);
  CHECK(descendants::hold(other));
  descendants::resume(other);
  for (const pid_t pid : burners_of(child, before))
    if (pid != other) CHECK(kzoo::process::stands_still(pid));
  CHECK(descendants::end(other));
  CHECK(children().size() == before.size() + 2);
  CHECK(descendants::end(child));
  CHECK(children() == before);
}

TEST_CASE("a held child that somebody continues has not stood still", "[process]") {
  const pid_t child =
      kzoo::process::spawn("sh", {"sh", "-c", "while :; do :; done"}, {}, {}, nullptr);
  wait_until([&] { return ticks(child) > 2; });
  REQUIRE(descendants::hold(child));
  a_moment();
  CHECK(descendants::stood_still(child));
  kill(child, SIGCONT);
  a_moment();
  kill(child, SIGSTOP);
  CHECK_FALSE(descendants::stood_still(child));
  descendants::resume(child);
  CHECK(descendants::stood_still(child));
  descendants::end(child);
}

TEST_CASE("a child in a long system call delays the stop of no other", "[process]") {
  const auto start = [](bool in_call) {
    const pid_t child = fork();
    if (child == 0) {
      if (in_call && vfork() == 0) {  // until it has ended, its parent does not stop
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sleep(3);
        _exit(0);
      }
      for (;;) pause();
    }
    constexpr bool kAlone = true;
    descendants::track(child, kAlone);
    return child;
  };
  const pid_t slow = start(true), other = start(false);
  a_moment();
  std::atomic<bool> slow_stopped = false;
  std::jthread holding([&] { slow_stopped = descendants::hold(slow); });
  a_moment();
  CHECK(descendants::hold(other));
  CHECK(descendants::end(other));
  CHECK_FALSE(slow_stopped);
  holding.join();
  CHECK(slow_stopped);
  CHECK(descendants::end(slow));
}
