#pragma once
// Blocks of A or B with a common scale: "1x128".

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kzoo {

// `extent` rows of A (columns of B) by `depth` elements of K; 0: no blocks.
struct scale_block {
  std::int64_t extent = 0, depth = 0;

  bool empty() const { return extent == 0; }
  auto operator<=>(const scale_block&) const = default;
};
inline constexpr std::int64_t kLargestScaleBlock = 65536;

// "1x128", or "" for none; and back, both from 1 to kLargestScaleBlock.
std::string scale_block_name(const scale_block& block);
std::optional<scale_block> scale_block_from_name(std::string_view name);

}  // namespace kzoo
