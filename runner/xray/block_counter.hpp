#pragma once
// Counts the accesses of the blocks that one OS thread runs.

#include "xray/collector.hpp"

#include <optional>
#include <span>
#include <unordered_map>

namespace kzoo::xray {

class block_counter final : replay_visitor {
 public:
  block_counter(const std::vector<kzoo_xray_range>& global, const kzoo_xray_range& static_shared)
      : global_(global), static_shared_(static_shared), replay_(contexts_) {}

  void begin_block(const kzoo_xray_range& dynamic_shared);
  void interval(const kzoo_xray_interval& what);
  void end_block() {}

  // Adds what has been counted to `to`, and forgets it.
  void move_to(collected_launch& to);

 private:
  struct site {
    std::uint32_t pc, context;
    access kind;
    unsigned width;
    site_counts counts;
  };

  void accessed(const warp_step& step) override;
  void fence(std::uint32_t) override {}
  void synchronized(std::uint32_t) override {}

  std::optional<access> kind_of(const warp_step& step) const;
  std::uint32_t site_of(const warp_step& step, access kind, unsigned width);
  void count(site& s, const warp_access& a, bool shared);
  void count_shared_load(std::uint32_t index, const warp_access& a);
  void end_merging();

  const std::vector<kzoo_xray_range>& global_;
  kzoo_xray_range static_shared_, dynamic_shared_{};
  call_contexts contexts_;
  warp_replay replay_;
  std::vector<std::array<std::uint32_t, kWarp>> lanes_;  // of each warp: their contexts
  merged_loads pending_;
  std::vector<site> sites_;
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_pc_;
  std::uint32_t last_site_ = 0;
  std::uint64_t barriers_ = 0, uncounted_ = 0, blocks_ = 0;
};

}  // namespace kzoo::xray
