#include "core/scale_block.hpp"

#include "os/text.hpp"

#include <fmt/format.h>

namespace kzoo {

std::string scale_block_name(const scale_block& block) {
  return block.empty() ? "" : fmt::format("{}x{}", block.extent, block.depth);
}

std::optional<scale_block> scale_block_from_name(std::string_view name) {
  const std::size_t cross = name.find('x');
  if (cross == name.npos) return {};
  const auto extent = number_from<std::int64_t>(name.substr(0, cross));
  const auto depth = number_from<std::int64_t>(name.substr(cross + 1));
  const auto is_size = [](const std::optional<std::int64_t>& x) {
    return x && *x >= 1 && *x <= kLargestScaleBlock;
  };
  if (!is_size(extent) || !is_size(depth)) return {};
  return scale_block{*extent, *depth};
}

}  // namespace kzoo
