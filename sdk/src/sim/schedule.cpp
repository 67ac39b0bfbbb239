#include "schedule.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include <kzoo/error.hpp>

namespace kzoo::sim {

void schedule::begin(std::uint64_t seed, std::uint64_t cluster, std::size_t threads) {
  state_ = 0;
  begins_first_ = false;
  order_.clear();
  if (seed == 0) return;
  // Two factors, so that no cluster repeats another cluster's order with another seed.
  constexpr std::uint64_t kOfSeed = 0x9e3779b97f4a7c15ull, kOfCluster = 0xbf58476d1ce4e5b9ull;
  state_ = (seed * kOfSeed + cluster * kOfCluster) | 1;
  constexpr int kMixing = 8;
  for (int i = 0; i < kMixing; ++i) next();
  begins_first_ = next() % 2 == 0;
  priorities_.resize(threads / kWarp + 2);
  for (std::uint32_t& priority : priorities_) priority = next();
  order_.resize(threads / kWarp);
  for (std::size_t i = 0; i < order_.size(); ++i) {
    order_[i] = i;
    std::swap(order_[i], order_[choose(i + 1)]);
  }
}

void schedule::step() {
  constexpr unsigned kSteps = 512;
  if (next() % kSteps == 0) priorities_[choose(priorities_.size())] = next();
}

std::uint32_t schedule::next() {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 7;
  state_ ^= state_ << 17;
  return static_cast<std::uint32_t>(state_ >> 16);
}

std::uint64_t schedule_seed() {
  const char* text = std::getenv("KZOO_SIM_SCHEDULE");
  if (text == nullptr) return 0;
  std::uint64_t seed = 0;
  const char* end = text + std::strlen(text);
  if (std::from_chars(text, end, seed).ptr == end && end != text) return seed;
  throw error(KZOO_ERROR, std::string("KZOO_SIM_SCHEDULE is '") + text + "', not a number");
}

}  // namespace kzoo::sim
