#pragma once
// First rows of groups: elements of a one-row i32 matrix with content::offsets, as a function
// of its key, so that they differ between runs. constexpr, for both devices.

#include "data/matrix.hpp"
#include "os/enums.hpp"

#include <kzoo/abi.h>

#include <cstdint>
#include <string_view>

namespace kzoo::data {

// Sizes of the groups. even: equal. skewed: growing linearly; the last of n has about 2 / n of all
// rows. half_empty: equal, but every second group is empty. single: one group has all rows. The
// first group changes.
enum class group_rows : std::uint32_t { even, skewed, half_empty, single };
constexpr std::string_view names_of(group_rows) { return "even, skewed, half_empty, single"; }
inline constexpr std::array kGroupRows = kAllOf<group_rows>;

// matrix::parameter for offsets: `rows` in all, and how they are split.
constexpr std::uint64_t offsets_parameter(std::int64_t rows, group_rows how) {
  return static_cast<std::uint64_t>(rows) * kGroupRows.size() + static_cast<std::uint64_t>(how);
}
constexpr std::int64_t group_count(const matrix& offsets) { return offsets.cols - 1; }

// The rows of the first `count` groups, before the first is chosen.
constexpr std::int64_t rows_of_first(const matrix& offsets, std::int64_t count) {
  const std::int64_t groups = group_count(offsets);
  const auto rows = static_cast<std::int64_t>(offsets.parameter / kGroupRows.size());
  switch (static_cast<group_rows>(offsets.parameter % kGroupRows.size())) {
    case group_rows::skewed:
      return rows * (count * count) / (groups * groups);
    case group_rows::half_empty:
      return rows * ((count + 1) / 2) / ((groups + 1) / 2);
    case group_rows::single:
      return count == 0 ? 0 : rows;
    default:
      return rows * count / groups;
  }
}

// The first row of `group`, from 0 to group_count(), where all rows end.
constexpr std::int64_t first_row_of(const matrix& offsets, std::int64_t group) {
  const std::int64_t groups = group_count(offsets);
  const auto first = static_cast<std::int64_t>(offsets.key % static_cast<std::uint64_t>(groups));
  const std::int64_t end = first + group;
  const std::int64_t before = rows_of_first(offsets, first);
  if (end <= groups) return rows_of_first(offsets, end) - before;
  return rows_of_first(offsets, groups) - before + rows_of_first(offsets, end - groups);
}

// The number of groups with rows, whichever group is the first.
constexpr std::int64_t groups_with_rows(const matrix& offsets) {
  std::int64_t count = 0;
  for (std::int64_t group = 0; group < group_count(offsets); ++group)
    count += rows_of_first(offsets, group + 1) > rows_of_first(offsets, group) ? 1 : 0;
  return count;
}

// Whether all groups have the same rows in both matrices, with as many groups.
constexpr bool have_same_rows(const matrix& offsets, const matrix& others) {
  for (std::int64_t group = 1; group < group_count(offsets); ++group)
    if (first_row_of(offsets, group) != first_row_of(others, group)) return false;
  return true;
}

// The group that has the row.
constexpr std::int64_t group_of(const matrix& offsets, std::int64_t row) {
  std::int64_t low = 0, high = group_count(offsets);  // first_row_of(low) <= row < of(high)
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    (first_row_of(offsets, middle) <= row ? low : high) = middle;
  }
  return low;
}

}  // namespace kzoo::data
