// Who is to blame for a busy GPU, in turns that are made up.
#include "run/timing_rounds.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <vector>

using kzoo::run::neighbour_watch;

namespace {

constexpr int kWorkers = 3, kTurns = 60;

// Three workers in turn, for a while; `busy_after(worker, turn)`: for how many looks the device is
// busy after the turn; `ends`: whether that is over when workers are ended; worker 1 has no turns
// from `last_of_one` on. Who is blamed, or -1.
struct outcome {
  int blamed = -1, turns = 0, looks = 0, ended = 0;
  std::size_t kernels = 0;
};
outcome play(const std::function<int(int, int)>& busy_after, bool ends = true,
             int last_of_one = kTurns) {
  std::array<char, kWorkers> workers{};
  std::array<char, 2 * kWorkers> kernels{};
  neighbour_watch watch;
  std::mt19937_64 random(7);
  outcome all;
  int left = 0;
  const auto is_busy = [&] {
    ++all.looks;
    return left-- > 0;
  };
  const auto end_workers = [&] {
    ++all.ended;
    if (ends) left = 0;
  };
  for (; all.turns < kTurns; ++all.turns) {
    const int next = all.turns % kWorkers;
    // Each worker has two kernels, which take turns in alternate rounds.
    const auto kernel_of = [&](int w) {
      return &kernels[std::size_t(w * 2 + all.turns / kWorkers % 2)];
    };
    if (next == 0) {
      const std::array<neighbour_watch::kernel, kWorkers> turns{kernel_of(0), kernel_of(1),
                                                                kernel_of(2)};
      watch.begin_round(turns, kWorkers, random);
    }
    if (next == 1 && all.turns >= last_of_one) continue;
    const auto found = watch.look(&workers[std::size_t(next)], {is_busy, end_workers});
    if (found) {
      all.blamed = int(static_cast<const char*>(found->process) - workers.data());
      all.kernels = found->kernels.size();
      return all;
    }
    watch.had_turn(&workers[std::size_t(next)], kernel_of(next));
    left = busy_after(next, all.turns);
  }
  return all;
}

}  // namespace

TEST_CASE("a worker after whose turns the device is busy is to blame", "[run]") {
  for (const int guilty : {0, 1, 2}) {
    for (const int looks : {1, 5, 1000}) {
      const outcome all = play([&](int worker, int) { return worker == guilty ? looks : 0; });
      CHECK(all.blamed == guilty);
      CHECK(all.turns <= 16 * kWorkers);
    }
  }
}

TEST_CASE("who is to blame may have had its last turn before others had theirs", "[run]") {
  constexpr int kLast = 18;
  const outcome all = play([](int worker, int) { return worker == 1 ? 3 : 0; }, true, kLast);
  CHECK(all.blamed == 1);
  CHECK(all.turns > kLast);
  CHECK(all.kernels == 2);
}

TEST_CASE("an idle device is looked at once in a round", "[run]") {
  const outcome all = play([](int, int) { return 0; });
  CHECK(all.blamed == -1);
  CHECK(all.looks >= kTurns / kWorkers - 1);  // the last one may be due after the last turn
  CHECK(all.looks <= kTurns / kWorkers);
}

TEST_CASE("in its rounds an idle device is looked at after a turn of each kernel", "[run]") {
  constexpr int kRounds = 4, kKernels = 10;
  std::array<char, kKernels> kernels{};
  std::vector<neighbour_watch::kernel> turns;
  for (const char& each : kernels) turns.push_back(&each);
  neighbour_watch watch;
  std::mt19937_64 random(3);
  std::set<neighbour_watch::kernel> looked_after;
  neighbour_watch::kernel last = nullptr;
  int looks = 0;
  const auto is_busy = [&] {
    ++looks;
    looked_after.insert(last);
    return false;
  };
  const auto take_turn = [&](neighbour_watch::kernel k) {
    watch.look(k, {is_busy, [] {}});  // each in a worker of its own
    watch.had_turn(k, k);
    last = k;
  };
  for (int round = 0; round < kRounds; ++round) {
    std::ranges::shuffle(turns, random);
    watch.begin_round(turns, kRounds, random);
    for (const auto k : turns) take_turn(k);
  }
  take_turn(nullptr);
  CHECK(looked_after.size() == kKernels);
  CHECK(looks <= kKernels + 2);  // three in a round
}

TEST_CASE("another program is no worker's fault", "[run]") {
  const outcome always = play([](int, int) { return 1000; }, false);
  CHECK(always.blamed == -1);
  CHECK(always.ended == 1);
  CHECK(play([](int, int turn) { return turn % 4 == 0 ? 3 : 0; }).blamed == -1);
  CHECK(play([](int worker, int turn) { return worker == 1 && turn < 12 ? 3 : 0; }).blamed == -1);
  int blamed = 0;
  std::minstd_rand random(1);
  for (int run = 0; run < 1000; ++run)
    blamed += play([&](int, int) { return random() % 8 == 0 ? 2 : 0; }).blamed >= 0;
  CHECK(blamed == 0);
}
