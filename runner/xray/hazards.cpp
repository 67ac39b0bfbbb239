#include "xray/hazards.hpp"

#include <fmt/format.h>

namespace kzoo::xray {
namespace {

std::string name_in(const dimensions& all, std::uint64_t linear) {
  if (all[1] <= 1 && all[2] <= 1) return std::to_string(linear);
  const std::uint64_t row = linear / all[0];
  return fmt::format("({},{},{})", linear % all[0], row % all[1], row / all[1]);
}

}  // namespace

void hazard_log::begin_launch(const dimensions& grid, const dimensions& block) {
  grid_ = grid;
  block_ = block;
}

std::string hazard_log::block_name(std::uint64_t block) const { return name_in(grid_, block); }
std::string hazard_log::thread_name(std::uint32_t thread) const { return name_in(block_, thread); }

std::uint32_t hazard_log::number_of(const code_place& place) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] =
      numbers_.try_emplace(place, static_cast<std::uint32_t>(places_.size()));
  if (is_new) places_.push_back(place);
  return found->second;
}

std::vector<hazard_record> hazard_log::take() {
  const std::lock_guard lock(mutex_);
  std::vector<hazard_record> records;
  for (const auto& [key, e] : found_) {
    const auto& [what, first, second] = key;
    records.push_back({what, places_[first], places_[second], e.detail, e.count});
  }
  found_.clear();
  return records;
}

}  // namespace kzoo::xray
