// The order in which the threads of a cluster run, and its copies arrive, where there is a choice.
//
// Without a seed: threads in turn, copies as late as possible. With a seed: warps and the copies
// have random priorities, which change now and then. Source: Burckhardt, Kothari, Musuvathi,
// Nagarakatte, "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs" (2010).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kzoo::sim {

class schedule {
 public:
  // Begins a cluster. Seed 0: none.
  void begin(std::uint64_t seed, std::uint64_t cluster, std::size_t threads);

  bool is_random() const { return state_ != 0; }
  // Whether threads begin before others continue.
  bool begins_first() const { return begins_first_; }
  std::uint32_t priority(std::size_t warp) const { return priorities_[warp]; }
  std::uint32_t copy_priority() const { return priorities_.back(); }
  // Changes a priority now and then.
  void step();
  std::size_t choose(std::size_t count) { return next() % count; }
  // The number of the thread that begins after `begun` others.
  std::size_t thread_after(std::size_t begun) const {
    return begun / kWarp < order_.size() ? order_[begun / kWarp] * kWarp + begun % kWarp : begun;
  }

 private:
  static constexpr std::size_t kWarp = 32;

  std::uint32_t next();

  std::uint64_t state_ = 0;
  bool begins_first_ = false;
  std::vector<std::uint32_t> priorities_;  // the warps', then the copies'
  std::vector<std::size_t> order_;         // in which whole warps begin; empty: as numbered
};

// KZOO_SIM_SCHEDULE, or 0.
std::uint64_t schedule_seed();

}  // namespace kzoo::sim
