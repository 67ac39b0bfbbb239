#include "reference/tampering.hpp"

#include <fmt/format.h>

namespace kzoo::reference {
namespace {

std::string changed(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{} changed", count, what, count == 1 ? "" : "s");
}

// place_name() in x itself, not in op(x).
std::string stored_place_name(const data::matrix& x, std::int64_t row, std::int64_t col) {
  return place_name(x, row, col) + (x.transposed ? " as it is stored" : "");
}

}  // namespace

std::string place_name(const data::matrix& x, std::int64_t row, std::int64_t col) {
  const std::string place = fmt::format("row {}, column {}", row % x.rows, col);
  return x.count == 1 ? place : fmt::format("product {}, {}", row / x.rows, place);
}

std::string outside_place(const data::matrix& x, std::string_view name, std::int64_t index) {
  const std::int64_t i = index - data::kRedzone;
  if (i < 0) return fmt::format("{} before its first element", -i);
  const std::int64_t span = data::span_of(x);
  if (i >= span) return fmt::format("{} past its last element", i - span + 1);
  const auto [row, col] = data::coordinates_of(x, index);
  if (col >= x.ld)
    return fmt::format("{} past the last row of product {}", col - x.ld + 1, row / x.rows);
  return fmt::format("in the padding: {} ({} has columns 0 to {})", stored_place_name(x, row, col),
                     name, x.cols - 1);
}

std::string tampering(const data::matrix& x, std::string_view name, const data::changes& found) {
  if (found.inside > 0) {
    const auto [row, col] = data::coordinates_of(x, found.first_inside);
    return fmt::format("the kernel wrote to its input {}: {}, the first at {}", name,
                       changed(found.inside, "element"), stored_place_name(x, row, col));
  }
  if (found.outside > 0) {
    return fmt::format("written outside {}: {}, the first {}", name, changed(found.outside, "word"),
                       outside_place(x, name, found.first_outside));
  }
  return "";
}

std::string restored(const data::matrix& x, std::string_view name, std::int64_t index) {
  if (index < 0) return "";
  if (!data::is_inside(x, index))
    return fmt::format("the kernel wrote outside {}, first {}, and put back what was there", name,
                       outside_place(x, name, index));
  const auto [row, col] = data::coordinates_of(x, index);
  return fmt::format("the kernel wrote to its input {}, first at {}, and put back what was there",
                     name, stored_place_name(x, row, col));
}

}  // namespace kzoo::reference
