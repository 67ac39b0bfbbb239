#include "reference/tampering.hpp"

#include <fmt/format.h>

namespace kzoo::reference {
namespace {

std::string changed(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{} changed", count, what, count == 1 ? "" : "s");
}

}  // namespace

std::string place_name(std::int64_t row, std::int64_t col) {
  return fmt::format("row {}, column {}", row, col);
}

std::string stored_place_name(const data::matrix& x, std::int64_t row, std::int64_t col) {
  return place_name(row, col) + (x.transposed ? " as it is stored" : "");
}

std::string outside_place(const data::matrix& x, std::string_view name, std::int64_t index) {
  const std::int64_t i = index - data::kRedzone;
  if (i < 0) return fmt::format("{} before its first element", -i);
  if (i >= x.rows * x.ld) return fmt::format("{} past its last element", i - x.rows * x.ld + 1);
  return fmt::format("in the padding: {} ({} has columns 0 to {})",
                     stored_place_name(x, i / x.ld, i % x.ld), name, x.cols - 1);
}

std::string tampering(const data::matrix& x, std::string_view name, const data::changes& found) {
  if (found.inside > 0) {
    const std::int64_t i = found.first_inside - data::kRedzone;
    return fmt::format("the kernel wrote to its input {}: {}, the first at {}", name,
                       changed(found.inside, "element"), stored_place_name(x, i / x.ld, i % x.ld));
  }
  if (found.outside > 0) {
    return fmt::format("written outside {}: {}, the first {}", name, changed(found.outside, "word"),
                       outside_place(x, name, found.first_outside));
  }
  return "";
}

}  // namespace kzoo::reference
