#pragma once
// Counts the accesses of the blocks that one OS thread runs.

#include "xray/collector.hpp"
#include "xray/hazards.hpp"

#include <optional>
#include <unordered_map>

namespace kzoo::xray {

class block_counter final : replay_visitor {
 public:
  // `ignored`: ranges in static_shared, relative to it.
  block_counter(global_shadow& global, hazard_log& hazards, const kzoo_xray_range& static_shared,
                const std::vector<kzoo_xray_range>& ignored)
      : global_(global),
        hazards_(hazards),
        shared_(hazards),
        static_shared_(static_shared),
        ignored_(ignored),
        replay_(contexts_) {}

  void begin_block(const kzoo_xray_range& dynamic_shared);
  void interval(const kzoo_xray_interval& what);

  // Moves its counts to `to`.
  void move_to(collected_launch& to);

 private:
  struct site {
    std::uint32_t pc, context;
    access kind;
    unsigned width;
    std::uint32_t place;  // number in hazards_
    site_counts counts;
  };

  void accessed(const warp_step& step) override;
  void started(const warp_step& step) override;
  void fence(std::uint32_t) override { global_.order(block_); }
  void synchronized(std::uint32_t mask) override;
  void out_of_bounds(const warp_step& step) override;

  std::optional<access> kind_of(const warp_step& step) const;
  std::uint32_t place_of(const warp_step& step);
  std::string thread_of(unsigned lane) const;
  void look_past_dynamic_shared(const warp_step& step);
  void look_for_hazards(const warp_step& step, access kind, std::uint32_t place);
  std::uint32_t site_of(const warp_step& step, access kind, unsigned width);
  void count_shared_load(std::uint32_t index, const warp_access& a);
  void end_merging();

  global_shadow& global_;
  hazard_log& hazards_;
  shared_shadow shared_;
  kzoo_xray_range static_shared_, dynamic_shared_{};
  const std::vector<kzoo_xray_range>& ignored_;
  call_contexts contexts_;
  warp_replay replay_;
  std::vector<std::array<std::uint32_t, kWarp>> lanes_;  // of each warp: their contexts
  std::uint64_t block_ = 0;
  std::uint32_t warp_ = 0, interval_ = 0;  // being replayed
  bool unordered_ = false;
  std::array<std::uint16_t, kWarp> meetings_{};  // of its lanes, in this interval
  merged_loads pending_;
  std::vector<site> sites_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_pc_;
  std::uint32_t last_site_ = 0;
  std::uint64_t barriers_ = 0, uncounted_ = 0, blocks_ = 0;
};

}  // namespace kzoo::xray
