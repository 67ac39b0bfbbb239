#include "xray/hazards.hpp"

namespace kzoo::xray {

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
