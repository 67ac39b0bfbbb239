#include "xray/counters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kzoo::xray {
namespace {

std::vector<std::uint32_t> active_lanes(const access_pattern& p) {
  std::vector<std::uint32_t> lanes;
  for (std::uint32_t lane = 0; lane < kWarp; ++lane)
    if ((p.mask >> lane & 1) != 0) lanes.push_back(lane);
  return lanes;
}

// The bytes from each active lane to the next, if constant.
std::optional<std::int64_t> stride_of(const access_pattern& p) {
  const auto lanes = active_lanes(p);
  std::optional<std::int64_t> stride;
  for (std::size_t i = 1; i < lanes.size(); ++i) {
    const auto step = std::int64_t{p.offsets[lanes[i]]} - p.offsets[lanes[i - 1]];
    if (stride && *stride != step) return {};
    stride = step;
  }
  return stride;
}

std::string cost_text(const line_counts& l) {
  return fmt::format("{:.3g} {} for each request where {:.3g} would do", l.counts.passes_each(),
                     passes_name(l.kind), l.counts.ideal_each());
}

std::string on_global(const line_counts& l) {
  const std::string cost = cost_text(l);
  const auto stride = stride_of(l.worst);
  if (stride && *stride != 0) {
    return fmt::format(
        "{}: neighbouring lanes are {} bytes apart; let neighbouring threads access "
        "neighbouring elements",
        cost, std::abs(*stride));
  }
  return fmt::format(
      "{}: its lanes are scattered; let neighbouring threads access neighbouring "
      "elements, or load tiles in the order of memory",
      cost);
}

std::string on_shared(const line_counts& l) {
  const std::string text = "bank conflicts, " + cost_text(l);
  // Lanes that are served together: all, half or a quarter of the warp.
  const unsigned together = l.worst.bytes <= 4 ? 32 : l.worst.bytes <= 8 ? 16 : 8;
  const auto lanes = active_lanes(l.worst);
  for (const std::uint32_t i : lanes) {
    for (const std::uint32_t j : lanes) {
      const std::uint32_t a = l.worst.offsets[i] / kBankBytes, b = l.worst.offsets[j] / kBankBytes;
      if (j <= i || i / together != j / together || a == b || a % kBanks != b % kBanks) continue;
      const std::uint32_t apart = std::max(a, b) - std::min(a, b);
      return text + fmt::format(
                        ": lanes {} and {} share bank {}, {} bytes apart; pad the rows by {} "
                        "bytes, or swizzle them",
                        i, j, a % kBanks, apart * kBankBytes, std::max(l.worst.bytes, kBankBytes));
    }
  }
  return text;
}

// The distinct units of kSize bytes that the lanes in `mask` access, sorted.
template <unsigned kSize>
class units {
 public:
  units(const warp_access& a, std::uint32_t mask) {
    for (unsigned lane = 0; lane < kWarp; ++lane) {
      if ((mask >> lane & 1) == 0 || a.bytes == 0) continue;
      const std::uint64_t last = (a.address[lane] + a.bytes - 1) / kSize;
      for (std::uint64_t u = a.address[lane] / kSize; u <= last && count_ < list_.size(); ++u)
        if (count_ == 0 || list_[count_ - 1] != u) list_[count_++] = u;
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

using words = units<kBankBytes>;

// Lanes that access the same word are served together; different words of a bank one by one.
unsigned most_in_a_bank(words& w) {
  std::array<std::uint8_t, kBanks> count{};
  unsigned most = 0;
  for (const std::uint64_t word : w) most = std::max<unsigned>(most, ++count[word % kBanks]);
  return most;
}

// Whether each active lane has the address of lane^distance, if that is active.
bool equal_neighbours(const warp_access& a, unsigned distance) {
  for (unsigned lane = 0; lane < kWarp; ++lane) {
    if (!a.active(lane) || !a.active(lane ^ distance)) continue;
    if (a.address[lane] != a.address[lane ^ distance]) return false;
  }
  return true;
}

struct lane_groups {
  std::array<std::uint32_t, 4> masks{};
  unsigned count = 0;
};

// Groups of lanes that are served one after the other, by bytes per lane: all 32, halves or
// quarters. Neighbouring groups of a load merge if each lane accesses the same as lane^1, or each
// as lane^2.
lane_groups groups_of(const warp_access& a, bool load) {
  if (a.bytes <= 4) return {{0xffffffffu}, 1};
  const bool pairs = load && (equal_neighbours(a, 1) || equal_neighbours(a, 2));
  if (a.bytes <= 8) {
    if (pairs) return {{0xffffffffu}, 1};
    return {{0xffffu, 0xffff0000u}, 2};
  }
  if (pairs) return {{0xffffu, 0xffff0000u}, 2};
  return {{0xffu, 0xff00u, 0xff0000u, 0xff000000u}, 4};
}

unsigned ceil_div(unsigned count, unsigned size) { return (count + size - 1) / size; }

// Distinct bytes of lanes that may overlap; in words if lanes are not narrower than a bank.
unsigned different_bytes(const warp_access& a) {
  if (a.bytes == 1) return units<1>(a, a.mask).count();
  if (a.bytes == 2) return units<2>(a, a.mask).count() * 2;
  return words(a, a.mask).count() * kBankBytes;
}

}  // namespace

std::optional<std::string> advice_on(const line_counts& l) {
  // An unavoidable extra sector of an unaligned row is not worth advice.
  constexpr double kWorthIt = 1.25;
  if (double(l.counts.passes) <= kWorthIt * double(l.counts.ideal)) return std::nullopt;
  if (l.worst.mask == 0) return cost_text(l);  // not of lanes
  return is_shared(l.kind) ? on_shared(l) : on_global(l);
}

std::string picture_of(const line_counts& l) {
  const auto lanes = active_lanes(l.worst);
  std::uint32_t lowest = ~0u;
  for (const std::uint32_t lane : lanes) lowest = std::min(lowest, l.worst.offsets[lane]);
  std::string text;
  for (std::uint32_t lane = 0; lane < kWarp; ++lane) {
    if (lane != 0) text += ' ';
    if ((l.worst.mask >> lane & 1) == 0) {
      text += '.';
    } else if (is_shared(l.kind)) {
      text += std::to_string(l.worst.offsets[lane] / kBankBytes % kBanks);
    } else {
      text += std::to_string(l.worst.offsets[lane] / kSectorBytes - lowest / kSectorBytes);
    }
  }
  return text;
}

cost global_cost(const warp_access& a) {
  const unsigned bytes = different_bytes(a);
  return {units<kSectorBytes>(a, a.mask).count(), ceil_div(bytes, kSectorBytes), bytes};
}

cost shared_cost(const warp_access& a, bool load) {
  cost sum;
  const lane_groups groups = groups_of(a, load);
  for (unsigned i = 0; i < groups.count; ++i) {
    words served(a, a.mask & groups.masks[i]);
    sum.passes += most_in_a_bank(served);
    sum.ideal += ceil_div(served.count(), kBanks);
    sum.bytes = served.count() * kBankBytes;
  }
  if (groups.count > 1 || a.bytes < kBankBytes) sum.bytes = different_bytes(a);
  return sum;
}

}  // namespace kzoo::xray
