#include "run/timing_rounds.hpp"
#include "core/step.hpp"

#include "os/posix.hpp"
#include "run/neighbours.hpp"
#include "timing/slower.hpp"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace kzoo::run {
namespace {

// Load that ramps up GPU clocks, before the first turn and after each start of a process.
constexpr double kClockWarmupSeconds = 0.1;

class timing_rounds {
 public:
  timing_rounds(const results::timing_options& how, std::span<timed_cell> timed_cells,
                const round_limits& limits, const memory_need& needed)
      : how_(how), limits_(limits), first_round_(limits.first_round) {
    std::uniform_int_distribution<int> clock_round(first_round_, first_round_ + how.rounds - 1);
    for (timed_cell& t : timed_cells) timers_.emplace_back(t, how, needed, clock_round(random_));
  }

  void run(const turn_observer& watch) {
    for (int round = first_round_;;) {
      if (limits_.deadline && steady_seconds() >= *limits_.deadline)
        for (cell_timer& t : timers_) t.stop();
      const std::vector<cell_timer*> now = participants();
      if (!now.empty()) {
        run_round(round++, now, watch);
        if (how_.drop_slower) drop_slower();
        continue;
      }
      for (cell_timer& t : timers_) in_its_process(t, [&] { t.measure_once(); });
      if (participants().empty()) break;
    }
    for (cell_timer& t : timers_) t.finish();
  }

 private:
  // Returns the cells of the next round.
  std::vector<cell_timer*> participants() {
    const bool others =
        std::ranges::any_of(timers_, [](const cell_timer& t) { return t.takes_part(false); });
    std::vector<cell_timer*> chosen;
    for (cell_timer& t : timers_)
      if (t.takes_part(others)) chosen.push_back(&t);
    return chosen;
  }

  void run_round(int round, std::vector<cell_timer*> now, const turn_observer& watch) {
    std::ranges::shuffle(now, random_);
    neighbours_.begin_round(std::vector<neighbour_watch::kernel>(now.begin(), now.end()),
                            how_.rounds, random_);
    for (cell_timer* t : now) {
      if (t->cell().verdict != verdict::pass) continue;
      watch(round, t->cell());
      if (t->is_on_gpu()) look_for_neighbour(*t);
      const bool is_idle = how_.fresh_processes || (round == first_round_ && t == now.front());
      const double warmup = t->is_on_gpu() && is_idle ? kClockWarmupSeconds : 0;
      in_its_process(*t, [&] { t->take_turn(round, warmup); });
      neighbours_.had_turn(t->client(), t);
    }
  }

  // Calls take(), which lets `t` run in its process.
  template <class Take>
  void in_its_process(cell_timer& t, const Take& take) {
    const bool was_right = t.is_right_so_far();
    take();
    if (!was_right || t.is_right_so_far()) return;
    // Kernels may have been dropped because of `t`. Slower kernels will be dropped again.
    for (cell_timer& other : timers_) other.take_back();
    // It disturbed its process or was disturbed there. Other kernels of its plugin may be affected.
    for (cell_timer& other : timers_)
      if (other.client() == t.client()) other.start_again();
  }

  void drop_slower() {
    std::vector<std::pair<cell_timer*, timing::summary>> rivals;
    for (cell_timer& t : timers_)
      if (t.competes()) rivals.emplace_back(&t, t.so_far());
    const auto median = [](const auto& rival) { return rival.second.median_ms; };
    const auto fastest = std::ranges::min_element(rivals, {}, median);
    for (const auto& [rival, times] : rivals) {
      const bool same_process = rival->client() == fastest->first->client();
      const timing::process_spread between =
          same_process || how_.fresh_processes ? timing::process_spread{} : limits_.spread;
      if (timing::is_slower(times, fastest->second, how_.max_relative_half_width, between))
        rival->drop();
    }
  }

  // Looks for a stopped worker that keeps the GPU busy.
  void look_for_neighbour(cell_timer& next) {
    const auto end_workers = [&] {
      for (cell_timer& other : timers_)
        if (other.client() != next.client()) other.client()->leave();
    };
    const auto guilty =
        neighbours_.look(next.client(), {[&] { return next.sees_neighbour(); }, end_workers});
    if (!guilty) return;
    for (cell_timer& each : timers_) {
      if (each.client() == guilty->process) each.client()->leave();
      if (guilty->kernels.contains(&each))
        each.fail(verdict::wrong, "keeps the GPU busy after its turn, when others are timed",
                  step::kNeighbours);
    }
    for (cell_timer& each : timers_) {
      each.take_back();
      each.start_again();
    }
  }

  const results::timing_options& how_;
  round_limits limits_;
  int first_round_;
  // A new order in each round and each run, so that effects of the order average out.
  std::mt19937_64 random_{std::random_device{}()};
  std::vector<cell_timer> timers_;
  neighbour_watch neighbours_;
};

}  // namespace

void run_rounds(const results::timing_options& how, std::span<timed_cell> timed_cells,
                const round_limits& limits, const memory_need& needed, const turn_observer& watch) {
  timing_rounds(how, timed_cells, limits, needed).run(watch);
}

}  // namespace kzoo::run
