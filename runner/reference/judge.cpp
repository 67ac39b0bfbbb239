#include "reference/judge.hpp"

#include "core/operands.hpp"
#include "data/contents.hpp"
#include "os/parallel.hpp"
#include "reference/diagnosis.hpp"
#include "reference/places.hpp"
#include "reference/product.hpp"
#include "reference/tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

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

  double rho(double error, const sizes& size) const {
    if (integer_) return error;
    if (size.sum == 0.0 && error <= tolerance_.allowed(size)) return 0.0;  // norm-wise bound
    return quotient(tolerance_.beyond_output(error, size),
                    tolerance_.unit() * size.sum * size.gain);
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

// `words` are data::word_count elements of the problem's type.
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

// `words` are only the elements of the expected result's rows.
scanned scan_rows(const expected_result& t, kzoo_precision declared, const word_view& words) {
  const scanner scanner(t, declared, words);
  scanned all;
  add_rows(all, std::int64_t(t.rows().size()), t.of().n, [&](std::int64_t r, scanned& found) {
    scanner.elements(t.rows()[std::size_t(r)], r, r * t.of().n, found);
  });
  return all;
}

// "(100%)" means all.
std::string share(std::int64_t count, std::int64_t total, const char* what) {
  constexpr double kMostOfSome = 99.9;
  const double percent = 100.0 * static_cast<double>(count) / static_cast<double>(total);
  return fmt::format("{} of {} {} ({:.3g}%)", count, total, what,
                     count < total ? std::min(percent, kMostOfSome) : percent);
}

// The copied part of C: the whole buffer, or the rows that the expected result covers.
struct copied {
  const word_view& words;
  bool rows_only;
};

// Input for the reasons: the scan's findings, and the elements for details.
struct evidence {
  const expected_result& t;
  kzoo_precision declared;
  copied c;
  const scanned& found;
  operands o = operands_of(t.of());

  std::int64_t total() const {
    return c.rows_only ? c.words.count() : data::all_rows(o.c) * o.c.cols;
  }
  std::string share_of_elements(std::int64_t count) const {
    return share(count, total(), c.rows_only ? "checked elements of C" : "elements of C");
  }
  // A word of a copied row.
  data::word_bits word(std::int64_t row, std::int64_t col) const {
    if (!c.rows_only) return c.words[data::index_of(o.c, row, col)];
    const auto at = std::ranges::lower_bound(t.rows(), row);
    if (at == t.rows().end() || *at != row)
      throw std::out_of_range(fmt::format("row {} of C was not copied", row));
    return c.words[(at - t.rows().begin()) * o.c.cols + col];
  }
  double value(std::int64_t row, std::int64_t col) const {
    return data::decode(o.c.type, word(row, col));
  }
  std::string place_name(place at) const {
    const std::string name = reference::place_name(o.c, at.row, at.col);
    return t.of().groups == 0 ? name : fmt::format("{} (group {})", name, b_of_row(o, at.row));
  }
  // The pattern of the marked elements, if all of C is known.
  template <class Marked>
  std::optional<std::string> pattern_of(const Marked& marked, double filled = 1.0) const {
    if (c.rows_only) return {};
    return reference::pattern_of(o.c.count, o.c.rows, o.c.cols, marked, filled);
  }
};

// The pattern of the marked elements, or the position of the first.
template <class Marked>
std::string located(const evidence& e, const occurrences& seen, const Marked& marked) {
  if (const auto pattern = e.pattern_of(marked)) return *pattern;
  return "the first at " + e.place_name(seen.first);
}

std::string outside_reason(const evidence& e) {
  const std::int64_t index = e.found.first_changed;
  return fmt::format(
      "written outside C: {} word{} changed, the first {}; expected {:#x}, got {:#x}",
      e.found.changed_outside, e.found.changed_outside == 1 ? "" : "s",
      outside_place(e.o.c, "C", index), data::word(e.o.c, index), e.c.words[index]);
}

std::string unwritten_reason(const evidence& e) {
  const occurrences& seen = e.found.unwritten;
  if (!e.c.rows_only && seen.count == e.total())
    return fmt::format("the kernel wrote nothing: all {} elements of C still hold the poison",
                       seen.count);
  const auto poison = [&](std::int64_t row, std::int64_t col) {
    return e.word(row, col) == data::word(e.o.c, data::index_of(e.o.c, row, col));
  };
  return fmt::format("not written: {} still hold the poison: {}", e.share_of_elements(seen.count),
                     located(e, seen, poison));
}

// The NaN around an input that became the NaN `bits`, if its payload tells; or "".
std::string nan_source(const evidence& e, data::word_bits bits) {
  const auto search = [&](const data::matrix& x, std::string_view name) -> std::string {
    if (x.type != e.o.c.type) return "";  // a conversion changes the payload
    for (std::int64_t i = 0; i < data::word_count(x); ++i) {
      const bool no_padding = x.ld == x.cols && (x.count == 1 || x.stride == x.rows * x.ld);
      if (i == data::kRedzone && no_padding) i += data::span_of(x);
      if (!data::is_inside(x, i) && quieted(x.type, data::word(x, i)) == bits)
        return fmt::format("propagated from the NaN outside {}: the kernel reads {}", name,
                           outside_place(x, name, i));
    }
    return "";
  };
  // 16-bit NaNs have few payloads, so each occurs everywhere; GPUs unify all NaNs.
  if (type_size(e.o.c.type) == 2 || bits == gpu_nan(e.o.c.type)) return "";
  std::string patterns = search(e.o.a, "A");
  return patterns.empty() ? search(e.o.b, "B") : patterns;
}

std::string nan_reason(const evidence& e) {
  const occurrences& seen = e.found.nan;
  const auto is_nan = [&](std::int64_t row, std::int64_t col) {
    return std::isnan(e.value(row, col));
  };
  std::string cause = nan_source(e, e.word(seen.first.row, seen.first.col));
  if (e.found.quieted_poison > 0)
    cause =
        "propagated from the poison in C: the kernel reads C although beta = 0, or adds to it; C "
        "must be set to zero before, which reads_c declares of a bare or compiled kernel";
  if (cause.empty()) {
    cause = e.t.of().beta == 0.0 ? "does it read C although beta = 0, outside A or B, or "
                                   "shared memory that is not written yet?"
                                 : "does it read outside A, B or C, or shared memory that is not "
                                   "written yet?";
  }
  if (const layout given = e.t.of().layout; given != layout::nn)
    cause += fmt::format("; is layout {} ignored?", layout_name(given));
  const std::string where = seen.count == e.total() ? "everywhere" : located(e, seen, is_nan);
  return fmt::format("NaN in {}, {}; expected {:.7g} at {}; {}", e.share_of_elements(seen.count),
                     where, exact_element(e.t.of(), seen.first.row, seen.first.col),
                     e.place_name(seen.first), cause);
}

std::string infinite_reason(const evidence& e) {
  const occurrences& seen = e.found.infinite;
  const auto is_infinite = [&](std::int64_t row, std::int64_t col) {
    return std::isinf(e.value(row, col));
  };
  return fmt::format("infinite in {}, {}; expected {:.7g} at {}", e.share_of_elements(seen.count),
                     located(e, seen, is_infinite),
                     exact_element(e.t.of(), seen.first.row, seen.first.col),
                     e.place_name(seen.first));
}

std::string lost_reason(const evidence& e) {
  const occurrences& seen = e.found.lost;
  const std::size_t r = static_cast<std::size_t>(
      std::ranges::lower_bound(e.t.rows(), seen.first.row) - e.t.rows().begin());
  const auto text = [](double value) {
    return std::isnan(value) ? std::string("NaN") : fmt::format("{:g}", value);
  };
  return fmt::format(
      "wrong in {} where an infinity or NaN in A, B or C decides the result, the first at {}: "
      "expected {}, got {}",
      e.share_of_elements(seen.count), e.place_name(seen.first), text(e.t.value(r, seen.first.col)),
      text(e.value(seen.first.row, seen.first.col)));
}

std::string error_reason(const evidence& e) {
  const scanned& f = e.found;
  const tolerance within(e.t.of(), e.declared);
  const std::string bound = within.exact_sums() ? "are not exact"
                                                : fmt::format("differ by more than {} allows",
                                                              precision_name(e.declared));
  std::string text = fmt::format(
      "{} {}, the worst at {}: expected {:.9g}, got {:.9g}",
      share(f.out, f.compared, e.t.complete() ? "elements of C" : "checked elements of C"), bound,
      e.place_name(f.worst), f.worst_expected, f.worst_got);
  // In a wrong region, some elements are right by chance.
  constexpr double kMostly = 0.9;
  if (e.t.complete() && f.out > 1 && double(f.out) < kMostly * double(f.compared)) {
    const auto is_out = [&](std::int64_t row, std::int64_t col) {
      const std::size_t r = std::size_t(row);
      const double error = std::abs(e.value(row, col) - e.t.value(r, col));
      return error > within.allowed(e.t.sizes_of(r, col));
    };
    if (const auto pattern = e.pattern_of(is_out, kMostly))
      text += fmt::format("; all in {}", *pattern);
  }
  if (const auto cause = likely_cause(e.t, e.declared, f)) text += "; likely cause: " + *cause;
  return text;
}

std::string unusual_reason(const evidence& e) {
  const scanned& f = e.found;
  return fmt::format(
      "errors are {:.3g} times as large as {} sums of {} terms have them (root mean square over {} "
      "elements, each of which is within its bound): are inputs or products narrower than that, or "
      "sums cut off? Tensor cores that add parts of fp32 are fp32_split",
      f.of_usual(), precision_name(e.declared), e.t.of().k, f.compared);
}

std::string reason(const evidence& e) {
  if (e.found.changed_outside > 0) return outside_reason(e);
  if (e.found.unwritten.count > 0) return unwritten_reason(e);
  if (e.found.nan.count > 0) return nan_reason(e);
  if (e.found.infinite.count > 0) return infinite_reason(e);
  if (e.found.lost.count > 0) return lost_reason(e);
  if (e.found.out > 0) return error_reason(e);
  if (e.found.of_usual() > usual_errors::most(e.found.compared)) return unusual_reason(e);
  return "";
}

accuracy measured(const expected_result& t, const scanned& f) {
  accuracy a;
  if (f.unwritten.count + f.nan.count + f.infinite.count > 0) return a;
  constexpr double kMostDigits = 17.0;
  a.max_abs_error = f.max_abs_error;
  a.max_rho = f.max_rho;
  a.rho_over_sqrt_k = f.max_rho / std::sqrt(static_cast<double>(t.of().k));
  a.worst_of_allowed = std::max(0.0, f.worst_of_allowed);
  a.worst_row = std::max<std::int64_t>(0, f.worst.row);
  a.worst_col = std::max<std::int64_t>(0, f.worst.col);
  if (f.squared_error > 0.0) {
    a.relative_frobenius = f.squared_expected > 0.0
                               ? std::sqrt(f.squared_error / f.squared_expected)
                               : std::numeric_limits<double>::infinity();
  }
  a.digits = a.relative_frobenius > 0.0
                 ? std::clamp(-std::log10(a.relative_frobenius), 0.0, kMostDigits)
                 : kMostDigits;
  a.rows_checked = std::int64_t(t.rows().size());
  return a;
}

judgement judged(const expected_result& t, kzoo_precision declared, const copied& c,
                 const scanned& found) {
  judgement result;
  result.reason = reason({t, declared, c, found});
  result.right = result.reason.empty();
  if (found.changed_outside > 0) result.step = step::kMemory;
  result.accuracy = measured(t, found);
  return result;
}

}  // namespace

judgement judge(const expected_result& t, kzoo_precision declared,
                std::span<const std::byte> words) {
  const std::size_t expected =
      std::size_t(data::word_count(operands_of(t.of()).c)) * type_size(t.of().dtype.c);
  if (words.size() != expected)
    throw std::invalid_argument(fmt::format("the buffer of C for {} has {} bytes, not {}",
                                            problem_name(t.of()), words.size(), expected));
  const word_view view(t.of().dtype.c, words);
  return judged(t, declared, {view, false}, scan(t, declared, view));
}

judgement judge(const expected_result& t, kzoo_precision declared, const result& rows) {
  const word_view view(t.of().dtype.c, rows.elements);
  if (view.count() != std::int64_t(t.rows().size()) * t.of().n)
    throw std::invalid_argument(fmt::format("{} elements are not those of {} rows of C for {}",
                                            view.count(), t.rows().size(), problem_name(t.of())));
  return judged(t, declared, {view, true}, scan_rows(t, declared, view));
}

}  // namespace kzoo::reference
