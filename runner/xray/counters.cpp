#include "xray/counters.hpp"

#include "xray/transactions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

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

}  // namespace

std::string advice_on(const line_counts& l) {
  // An unavoidable extra sector of an unaligned row is not worth advice.
  constexpr double kWorthIt = 1.25;
  if (double(l.counts.passes) <= kWorthIt * double(l.counts.ideal)) return "";
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

}  // namespace kzoo::xray
