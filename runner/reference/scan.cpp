#include "reference/scan.hpp"

#include "data/contents.hpp"
#include "os/parallel.hpp"
#include "reference/product.hpp"
#include "reference/tolerance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kzoo::reference {
namespace {

void keep_lowest(std::vector<wrong_element>& kept, const wrong_element& next) {
  const auto by_order = [](const wrong_element& x, const wrong_element& y) {
    return x.order < y.order;
  };
  if (kept.size() == scanned::kMaxWrongSamples) {
    if (next.order > kept.back().order) return;
    kept.pop_back();
  }
  kept.insert(std::upper_bound(kept.begin(), kept.end(), next, by_order), next);
}

// The block `later` covers the rows after those of `all`.
void merge(scanned& all, const scanned& later) {
  if (all.first_changed < 0) all.first_changed = later.first_changed;
  all.changed_outside += later.changed_outside;
  all.unwritten.add(later.unwritten);
  all.nan.add(later.nan);
  all.infinite.add(later.infinite);
  all.lost.add(later.lost);
  all.quieted_poison += later.quieted_poison;
  all.right_infinities += later.right_infinities;
  all.unjudged_infinities.add(later.unjudged_infinities);
  all.compared += later.compared;
  all.nonzero += later.nonzero;
  all.out += later.out;
  all.max_abs_error = std::max(all.max_abs_error, later.max_abs_error);
  all.max_rho = std::max(all.max_rho, later.max_rho);
  all.squared_error += later.squared_error;
  all.squared_expected += later.squared_expected;
  all.squared_of_usual += later.squared_of_usual;
  if (later.worst_of_allowed > all.worst_of_allowed ||
      (later.worst_of_allowed == all.worst_of_allowed && later.worst_error > all.worst_error)) {
    all.worst_of_allowed = later.worst_of_allowed;
    all.worst_error = later.worst_error;
    all.worst_expected = later.worst_expected;
    all.worst_got = later.worst_got;
    all.worst = later.worst;
  }
  for (const wrong_element& s : later.wrong_samples) keep_lowest(all.wrong_samples, s);
}

class scanner {
 public:
  scanner(const expected_result& t, kzoo_precision declared, const word_view& words)
      : expected_(t),
        operands_(operands_of(t.of())),
        tolerance_(t.of(), declared),
        usual_(t.of(), declared),
        words_(words),
        poisoned_(operands_.c.inside == data::content::poison),
        integer_(is_integer(t.of().dtype)) {}

  void outside(std::int64_t begin, std::int64_t end, scanned& found) const {
    for (std::int64_t i = begin; i < end; ++i) {
      if (words_[i] == data::word(operands_.c, i)) continue;
      if (found.changed_outside++ == 0) found.first_changed = i;
    }
  }

  // A row of a whole buffer. `r`: its index among the rows of the expected result, or -1.
  void row(std::int64_t row, std::int64_t r, scanned& found) const {
    const std::int64_t begin = data::index_of(operands_.c, row, 0);
    elements(row, r, begin, found);
    outside(begin + operands_.c.cols, data::row_end(operands_.c, row), found);
  }

  // A row's elements, which begin at word `from`.
  void elements(std::int64_t row, std::int64_t r, std::int64_t from, scanned& found) const {
    const std::int64_t begin = data::index_of(operands_.c, row, 0);
    for (std::int64_t col = 0; col < operands_.c.cols; ++col) {
      const data::word_bits bits = words_[from + col];
      const double got = data::decode(operands_.c.type, bits);
      if (poisoned_ && (integer_ || std::isnan(got))) {  // as all poison of other types is
        const data::word_bits poison = data::word(operands_.c, begin + col);
        if (bits == poison && !is_right_by_chance(row, r, col, got, found))
          found.unwritten.add(row, col);
        if (is_made_from(poison, bits, got)) ++found.quieted_poison;
      }
      if (r >= 0 && special(row, std::size_t(r), col, got, found)) continue;
      if (std::isnan(got)) {
        found.nan.add(row, col);
      } else if (std::isinf(got)) {
        infinity(row, r, col, got, found);
      } else if (r >= 0) {
        compare(row, std::size_t(r), col, got, found);
      }
    }
  }

 private:
  // An integer type's poison equals the expected integer once in 2^32 elements.
  bool is_right_by_chance(std::int64_t row, std::int64_t r, std::int64_t col, double got,
                          const scanned& found) const {
    if (!integer_) return false;
    if (r >= 0) return got == expected_.value(std::size_t(r), col);
    return found.unwritten.count == 0 && got == exact_element(expected_.of(), row, col);
  }

  // Whether infinite or NaN inputs determine the element.
  bool special(std::int64_t row, std::size_t r, std::int64_t col, double got,
               scanned& found) const {
    const double value = expected_.value(r, col);
    if (std::isfinite(value)) return false;
    if (got != value && !(std::isnan(got) && std::isnan(value))) found.lost.add(row, col);
    return true;
  }

  // Excludes the NaN that GPUs turn every NaN into: it does not tell its origin.
  bool is_made_from(data::word_bits poison, data::word_bits bits, double got) const {
    const kzoo_type type = operands_.c.type;
    return std::isnan(got) && bits == quieted(type, poison) && bits != gpu_nan(type);
  }

  void infinity(std::int64_t row, std::int64_t r, std::int64_t col, double got,
                scanned& found) const {
    if (r < 0) return found.unjudged_infinities.add(row, col);
    const double value = expected_.value(std::size_t(r), col);
    if (std::signbit(value) == std::signbit(got) &&
        std::abs(value) + tolerance_.allowed(expected_.sizes_of(std::size_t(r), col)) >=
            format_of(operands_.c.type).overflow) {
      ++found.right_infinities;
    } else {
      found.infinite.add(row, col);
    }
  }

  void compare(std::int64_t row, std::size_t r, std::int64_t col, double got,
               scanned& found) const {
    const double value = expected_.value(r, col), error = std::abs(got - value);
    const sizes size = expected_.sizes_of(r, col);
    const double limit = tolerance_.allowed(size);
    ++found.compared;
    found.nonzero += got != 0.0;
    found.squared_error += error * error;
    found.squared_expected += value * value;
    found.max_abs_error = std::max(found.max_abs_error, error);
    found.max_rho = std::max(found.max_rho, rho(error, size));
    if (usual_.known()) {
      const double of_usual = error / usual_.of(size);
      found.squared_of_usual += of_usual * of_usual;
    }
    const double of_allowed = quotient(error, limit);
    if (of_allowed > found.worst_of_allowed ||
        (of_allowed == found.worst_of_allowed && error > found.worst_error)) {
      found.worst_of_allowed = of_allowed;
      found.worst_error = error;
      found.worst_expected = value;
      found.worst_got = got;
      found.worst = {row, col};
    }
    if (error <= limit) return;
    ++found.out;
    const std::uint64_t order = data::hash(~operands_.c.key, row * operands_.c.cols + col);
    keep_lowest(found.wrong_samples, {{row, col}, got, order});
  }

  double rho(double error, const sizes& of) const {
    if (integer_) return error;
    if (of.sum == 0.0 && error <= tolerance_.allowed(of)) return 0.0;  // norm-wise bound
    return quotient(tolerance_.beyond_output(error, of), tolerance_.unit() * of.sum * of.gain);
  }
  static double quotient(double error, double limit) {
    if (error == 0.0) return 0.0;
    return limit > 0.0 ? error / limit : std::numeric_limits<double>::infinity();
  }

  const expected_result& expected_;
  const operands operands_;
  const tolerance tolerance_;
  const usual_errors usual_;
  const word_view& words_;
  const bool poisoned_, integer_;
};

// Scans `count` rows of `words` words each, on all threads.
template <class ScanRow>
void add_rows(scanned& all, std::int64_t count, std::int64_t words, const ScanRow& scan_row) {
  constexpr std::int64_t kWordsPerBlock = 1 << 16;
  const std::int64_t rows_per_block = std::max<std::int64_t>(1, kWordsPerBlock / words);
  // Merged in row order, so that the result does not depend on the number of threads.
  std::vector<scanned> parts(std::size_t((count + rows_per_block - 1) / rows_per_block));
  for_each_block(std::int64_t(parts.size()), [&](std::int64_t block) {
    scanned part;
    const std::int64_t end = std::min(count, (block + 1) * rows_per_block);
    for (std::int64_t row = block * rows_per_block; row < end; ++row) scan_row(row, part);
    parts[std::size_t(block)] = std::move(part);
  });
  for (const scanned& part : parts) merge(all, part);
}

}  // namespace

double scanned::of_usual() const {
  return compared == 0 ? 0 : std::sqrt(squared_of_usual / static_cast<double>(compared));
}

scanned scan(const expected_result& t, kzoo_precision declared, const word_view& words) {
  const data::matrix c = operands_of(t.of()).c;
  const scanner scanner(t, declared, words);
  scanned all;
  scanner.outside(0, data::kRedzone, all);
  add_rows(all, data::all_rows(c), c.ld, [&](std::int64_t row, scanned& found) {
    const auto known = std::lower_bound(t.rows().begin(), t.rows().end(), row);
    const bool is_known = known != t.rows().end() && *known == row;
    scanner.row(row, is_known ? known - t.rows().begin() : -1, found);
  });
  scanned after;
  scanner.outside(data::word_count(c) - data::kRedzone, data::word_count(c), after);
  merge(all, after);
  if (all.right_infinities == 0) all.infinite.add(all.unjudged_infinities);
  return all;
}

scanned scan_rows(const expected_result& t, kzoo_precision declared, const word_view& words) {
  const scanner scanner(t, declared, words);
  scanned all;
  add_rows(all, std::int64_t(t.rows().size()), t.of().n, [&](std::int64_t r, scanned& found) {
    scanner.elements(t.rows()[std::size_t(r)], r, r * t.of().n, found);
  });
  return all;
}

}  // namespace kzoo::reference
