#include "xray/transactions.hpp"

#include <algorithm>
#include <bit>

namespace kzoo::xray {
namespace {

// The different units of `size` bytes that the lanes in `mask` access, sorted.
class units {
 public:
  units(const warp_access& a, std::uint32_t mask, unsigned size) {
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if ((mask >> lane & 1) == 0 || a.bytes == 0) continue;
      const std::uint64_t last = (a.address[lane] + a.bytes - 1) / size;
      for (std::uint64_t u = a.address[lane] / size; u <= last && count_ < list_.size(); ++u) {
        if (count_ == 0 || list_[count_ - 1] != u) list_[count_++] = u;
      }
    }
    if (!std::is_sorted(begin(), end())) std::sort(begin(), end());
    count_ = static_cast<std::size_t>(std::unique(begin(), end()) - begin());
  }
  std::uint64_t* begin() { return list_.data(); }
  std::uint64_t* end() { return list_.data() + count_; }
  unsigned count() const { return static_cast<unsigned>(count_); }

 private:
  std::array<std::uint64_t, kWarp * 16> list_;
  std::size_t count_ = 0;
};

// Lanes that access the same word are served together; different words of a bank one by one.
unsigned most_words_in_a_bank(const warp_access& a, std::uint32_t mask) {
  std::array<std::uint8_t, kBanks> words{};
  unsigned most = 0;
  for (const std::uint64_t word : units(a, mask, kBankBytes))
    most = std::max<unsigned>(most, ++words[word % kBanks]);
  return most;
}

// Whether each active lane in `mask` has the address of lane^distance, where that is active.
bool equal_neighbours(const warp_access& a, std::uint32_t mask, unsigned distance) {
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if ((mask >> lane & 1) == 0 || (mask >> (lane ^ distance) & 1) == 0) continue;
    if (a.address[lane] != a.address[lane ^ distance]) return false;
  }
  return true;
}

// The lanes in `mask` are served as two groups, unless neighbours ask for the same.
unsigned in_two_groups(const warp_access& a, std::uint32_t mask, std::uint32_t lower) {
  if (equal_neighbours(a, mask, 1) || equal_neighbours(a, mask, 2))
    return most_words_in_a_bank(a, mask);
  return most_words_in_a_bank(a, mask & lower) + most_words_in_a_bank(a, mask & ~lower);
}

unsigned wavefronts(const warp_access& a) {
  constexpr std::uint32_t kHalf = 0xffff;
  if (a.bytes <= 4) return most_words_in_a_bank(a, a.mask);
  if (a.bytes <= 8) return in_two_groups(a, a.mask, kHalf);
  return in_two_groups(a, a.mask & kHalf, 0x00ff) + in_two_groups(a, a.mask & ~kHalf, 0x00ff00ff);
}

unsigned ceil_div(unsigned count, unsigned size) { return (count + size - 1) / size; }

// Of lanes that may overlap: in bytes where they are narrower than a bank, else in words.
unsigned different_bytes(const warp_access& a) {
  const unsigned unit = std::min(a.bytes, kBankBytes);
  return unit == 0 ? 0 : units(a, a.mask, unit).count() * unit;
}

}  // namespace

cost global_cost(const warp_access& a) {
  const unsigned bytes = different_bytes(a);
  return {units(a, a.mask, kSectorBytes).count(), ceil_div(bytes, kSectorBytes), bytes};
}

cost shared_cost(const warp_access& a) {
  const unsigned bytes = different_bytes(a);
  // Halves of a warp that access 16 bytes per lane are never served together.
  const bool both_halves = (a.mask & 0xffff) != 0 && a.mask >> 16 != 0;
  const unsigned least = a.bytes > 8 && both_halves ? 2 : 1;
  return {wavefronts(a), std::max(least, ceil_div(bytes, kBanks * kBankBytes)), bytes};
}

}  // namespace kzoo::xray
