#include "worker/device_matrix.hpp"

namespace kzoo::worker {
namespace {

std::int64_t first_of(const data::changes& found) {
  if (found.first_inside < 0 || found.first_outside < 0)
    return std::max(found.first_inside, found.first_outside);
  return std::min(found.first_inside, found.first_outside);
}

}  // namespace

data::changes device_matrix::with_zones(data::changes own,
                                        std::span<const data::changes> in_zones) const {
  const std::vector<devices::filled_buffer> each = zones();
  for (std::size_t i = 0; i < each.size(); ++i) {
    const data::changes& found = in_zones[i];
    if (!found.any()) continue;
    const auto at = static_cast<const char*>(each[i].words) - memory() +
                    std::ptrdiff_t{sizeof(float)} * first_of(found);
    const auto size = static_cast<std::ptrdiff_t>(type_size(spec_.type));
    const std::int64_t index = (at < 0 ? at - size + 1 : at) / size;
    if (own.outside == 0 || index < own.first_outside) own.first_outside = index;
    own.outside += found.inside + found.outside;
  }
  return own;
}

}  // namespace kzoo::worker
