#include "run/timing_rounds.hpp"
#include "core/verdict.hpp"

#include "os/posix.hpp"
#include "timing/process_spread.hpp"

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

void neighbour_watch::begin_round(std::span<const kernel> turns, int rounds,
                                  std::mt19937_64& random) {
  const std::size_t all = turns.size(), enough = static_cast<std::size_t>(rounds);
  drawn_.clear();
  while (drawn_.size() < (all + enough - 1) / enough) {
    if (not_yet_drawn_.empty()) {
      not_yet_drawn_.assign(turns.begin(), turns.end());
      std::ranges::shuffle(not_yet_drawn_, random);
    }
    const kernel next = not_yet_drawn_.back();
    not_yet_drawn_.pop_back();
    if (std::ranges::find(turns, next) != turns.end()) drawn_.insert(next);
  }
}

void neighbour_watch::had_turn(worker w, kernel k) {
  last_ = w;
  last_kernel_ = k;
  if (drawn_.contains(k)) is_due_ = true;
}

std::optional<neighbour_watch::guilt> neighbour_watch::look(worker next, const device& on) {
  // is_busy() does not see the next worker's own work.
  const bool is_wanted = is_alert_ || (is_due_ && last_ != next);
  if (is_given_up_ || !is_wanted) return std::nullopt;
  is_due_ = false;
  const bool was_idle = std::exchange(was_idle_, true);
  const bool is_busy = on.is_busy();
  const bool is_known = is_alert_ && was_idle && last_ != nullptr && last_ != next;
  if (is_known && is_busy) {
    sightings& seen = seen_[last_];
    ++seen.count;
    seen.kernels.insert(last_kernel_);
  } else if (is_known) {
    ++idle_[last_];
  }
  if (is_busy) is_alert_ = true;
  const std::optional<guilt> guilty = to_blame();
  if (guilty) seen_.clear();
  if (guilty || !is_busy) return guilty;
  if (seen_.size() > 1)
    is_given_up_ = true;  // another program
  else
    wait_until_idle(on);
  return std::nullopt;
}

// Fisher's exact test: `chance` that another program is seen only after turns of one worker.
std::optional<neighbour_watch::guilt> neighbour_watch::to_blame() const {
  constexpr double kMostChance = 1e-5;
  if (seen_.size() != 1) return std::nullopt;
  const auto& [suspect, seen] = *seen_.begin();
  int own_looks = seen.count, looks = seen.count;
  for (const auto& [w, times] : idle_) {
    looks += times;
    if (w == suspect) own_looks += times;
  }
  double chance = 1;
  for (int i = 0; i < seen.count; ++i) chance *= double(own_looks - i) / (looks - i);
  if (chance >= kMostChance) return std::nullopt;
  return guilt{suspect, seen.kernels};
}

void neighbour_watch::wait_until_idle(const device& on) {
  constexpr int kLooks = 100;  // each takes some milliseconds
  for (int i = 0; i < kLooks; ++i)
    if (!on.is_busy()) return;
  on.end_workers();
  is_given_up_ = on.is_busy();
}

}  // namespace kzoo::run
