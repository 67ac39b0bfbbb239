#pragma once
// The blocks of A, or of B, that have a scale each, written as people say it: "1x128".

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kzoo {

// So many rows of A, or columns of B, and so many steps of K; none where they are 0.
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
