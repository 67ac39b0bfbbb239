#include "core/granularity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace kzoo {
namespace {

std::int64_t up_to_multiple(std::int64_t x, std::int64_t of) { return (x + of - 1) / of * of; }

std::int64_t common_multiple(std::int64_t x, std::int64_t y) {
  constexpr std::int64_t kTooLong = kLargestDimension + 1;
  return std::lcm(std::min(x, kTooLong), std::min(y, kTooLong));
}

}  // namespace

std::int64_t narrowest(const element_types& t) {
  return static_cast<std::int64_t>(std::min({type_size(t.a), type_size(t.b), type_size(t.c)}));
}

size_granularity both_of(const size_granularity& x, const size_granularity& y) {
  return {common_multiple(x.m, y.m), common_multiple(x.n, y.n), common_multiple(x.k, y.k),
          common_multiple(x.row_bytes, y.row_bytes)};
}

problem rounded_up(problem p, const size_granularity& g) {
  const std::int64_t in_word = elements_in_word(p.dtype.b);
  const std::int64_t row = in_word * std::max<std::int64_t>(1, g.row_bytes / narrowest(p.dtype));
  const bool a_has_rows_of_m = is_a_transposed(p.layout);
  const bool some_rows_of_k = !a_has_rows_of_m || is_b_transposed(p.layout);
  p.m = up_to_multiple(p.m, common_multiple(g.m, a_has_rows_of_m ? row : 1));
  p.n = up_to_multiple(p.n, common_multiple(g.n, row));  // rows of C
  p.k = up_to_multiple(p.k, common_multiple(g.k, some_rows_of_k ? row : 1));
  p.padding = up_to_multiple(p.padding, row);
  p.batch_padding = up_to_multiple(p.batch_padding, row);
  return p;
}

std::string broken_by(const size_granularity& g, const problem& p) {
  struct rule {
    const char* what;
    std::int64_t size, multiple;
  };
  const auto bytes = [](kzoo_type type, std::int64_t elements) {
    return elements / elements_in_word(type) * static_cast<std::int64_t>(type_size(type));
  };
  // The first row starts where the matrix does.
  const auto from_row = [&](kzoo_type type, std::int64_t ld, std::int64_t rows) {
    return rows == 1 ? 0 : bytes(type, ld);
  };
  const std::int64_t rows_a = is_a_transposed(p.layout) ? p.k : p.m;
  const std::int64_t rows_b = is_b_transposed(p.layout) ? p.n : p.k;
  const std::array rules{
      rule{"M", p.m, g.m},
      rule{"N", p.n, g.n},
      rule{"K", p.k, g.k},
      rule{"the bytes from row to row of A", from_row(p.dtype.a, p.lda(), rows_a), g.row_bytes},
      rule{"the bytes from row to row of B", from_row(p.dtype.b, p.ldb(), rows_b), g.row_bytes},
      rule{"the bytes from row to row of C", from_row(p.dtype.c, p.ldc(), p.m), g.row_bytes},
      rule{"the bytes from A to A", bytes(p.dtype.a, p.stride_a()), g.row_bytes},
      rule{"the bytes from B to B", bytes(p.dtype.b, p.stride_b()), g.row_bytes},
      rule{"the bytes from C to C", bytes(p.dtype.c, p.stride_c()), g.row_bytes}};
  const auto broken =
      std::ranges::find_if(rules, [](const rule& r) { return r.size % r.multiple != 0; });
  if (broken == rules.end()) return "";
  return fmt::format("{} a multiple of {}, not {}", broken->what, broken->multiple, broken->size);
}

}  // namespace kzoo
