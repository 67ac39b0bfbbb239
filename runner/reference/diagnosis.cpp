#include "reference/diagnosis.hpp"

#include "data/contents.hpp"
#include "data/rows.hpp"
#include "reference/epilogue.hpp"
#include "reference/product.hpp"
#include "reference/tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kzoo::reference {
namespace {

using numbers = std::vector<double>;

struct sum {
  double value = 0, magnitude = 0;

  void add(double x) {
    value += x;
    magnitude += std::abs(x);
  }
};

sum dot(const numbers& a, const numbers& b) {
  sum total;
  for (std::size_t k = 0; k < a.size(); ++k) total.add(a[k] * b[k]);
  return total;
}

numbers row_of(const data::scaled_matrix& x, std::int64_t product, std::int64_t row) {
  numbers values(static_cast<std::size_t>(data::op_cols(x)));
  data::read_row(x, product, {row, 0}, values);
  return values;
}
numbers column_of(const data::scaled_matrix& x, std::int64_t product, std::int64_t col) {
  numbers values;
  for (std::int64_t row = 0; row < data::op_rows(x); ++row)
    values.push_back(data::element_at(x, product, row, col));
  return values;
}

// The value that a kernel reads as element (row, col) if it takes x for its transpose; NaN past the
// edges. `packed`: its rows follow each other without a gap.
double misread(const data::scaled_matrix& x, std::int64_t product, std::int64_t row,
               std::int64_t col, bool packed) {
  data::scaled_matrix other = x;
  other.transposed = !x.transposed;
  if (packed) other.ld = x.rows;
  const double number = data::number_at(other, product, row, col,
                                        [&x](std::int64_t index) { return data::word(x, index); });
  return data::scale_at(x, product, row, col) * number;
}
std::string misreading(const data::matrix& x, std::string_view names, layout given, layout taken) {
  const std::string_view verb = names.size() > 1 ? "are" : "is";
  if (!x.transposed)
    return fmt::format(
        "{0} {1} read transposed: is it a kernel for layout {2}? layouts={2} in its "
        "description says so",
        names, verb, layout_name(taken));
  return fmt::format("{} {} read as if {} not transposed: is layout {} ignored?", names, verb,
                     names.size() > 1 ? "they were" : "it were", layout_name(given));
}

// A wrong element, and all its possible inputs.
struct sample {
  std::int64_t product, b_number;  // which A and B of the batch or groups
  place at;                        // in the matrix C of its batch
  double got, c0;
  numbers a, b;  // its row of A and its column of B
};

// A search along k tries so many hypotheses that a few elements can fit by chance, more of them
// with a wide tolerance. It needs this many wrong elements, and exactly one k that explains all.
constexpr std::size_t kEnoughToSearch = 3;

class cause_search {
 public:
  cause_search(const expected_result& t, kzoo_precision declared, const scanned& found)
      : problem_(t.of()),
        operands_(operands_of(problem_)),
        scalars_(held_scalars(problem_)),
        epilogue_(problem_),
        tolerance_(problem_, declared),
        all_zero_(found.nonzero == 0) {
    for (const wrong_element& s : found.wrong_samples) {
      const std::int64_t product = s.at.row / problem_.m, row = s.at.row % problem_.m;
      const std::int64_t b = b_of_row(operands_, s.at.row);
      samples_.push_back({product,
                          b,
                          {row, s.at.col},
                          s.got,
                          initial_c(operands_, scalars_, s.at.row, s.at.col),
                          row_of(operands_.a, product, row),
                          column_of(operands_.b, b, s.at.col)});
    }
  }

  std::optional<std::string> cause() const {
    if (samples_.empty()) return std::nullopt;
    for (const auto test :
         {&cause_search::other_epilogue, &cause_search::other_scalars, &cause_search::other_factors,
          &cause_search::other_product, &cause_search::other_scales, &cause_search::other_fp8,
          &cause_search::inputs_rounded, &cause_search::narrow_sums, &cause_search::terms_dropped,
          &cause_search::one_term}) {
      if (auto found = (this->*test)()) return found;
    }
    return std::nullopt;
  }

 private:
  // Whether the sample equals `f`, an epilogue's value of alpha A B + beta C0.
  bool is_as(const sample& s, const scalars& with, const sum& products,
             const finished_element& f) const {
    const double size = std::abs(with.alpha) * products.magnitude;
    return std::abs(s.got - f.value) <=
           tolerance_.allowed({std::abs(f.value), size + std::abs(with.beta * s.c0), size, f.gain,
                               f.roundings, f.extra});
  }
  finished_element finish(const sample& s, const applied_epilogue& epilogue, double value) const {
    return finished(epilogue, value, s.product * problem_.m + s.at.row, s.at.col);
  }
  double unfinished(const sample& s, const scalars& with, const sum& products) const {
    return combine(problem_.dtype.c, with, products.value, s.c0);
  }
  bool fits(const sample& s, const scalars& with, const sum& products) const {
    return is_as(s, with, products, finish(s, epilogue_, unfinished(s, with, products)));
  }
  template <class Products>
  bool all_fit(const Products& products) const {
    return std::all_of(samples_.begin(), samples_.end(),
                       [&](const sample& s) { return fits(s, scalars_, products(s)); });
  }

  // Whether `finish_as(sample, alpha A B)` explains all samples.
  template <class FinishAs>
  bool all_are(const FinishAs& finish_as) const {
    return std::ranges::all_of(samples_, [&](const sample& s) {
      const sum products = dot(s.a, s.b);
      return is_as(s, scalars_, products, finish_as(s, products.value));
    });
  }

  std::optional<std::string> other_epilogue() const {
    const auto [alpha, beta] = scalars_;
    if (epilogue_.count == 0) return std::nullopt;
    const auto all_finished_by = [&](const applied_epilogue& epilogue) {
      return all_are([&, a = alpha, b = beta](const sample& s, double ab) {
        return finish(s, epilogue, a * ab + b * s.c0);
      });
    };
    applied_epilogue other = epilogue_;
    other.count = 0;
    if (all_finished_by(other)) return "the epilogue is left out";
    for (int i = 0; i < epilogue_.count; ++i) {
      other = epilogue_;
      const auto at = other.stages.begin() + i;
      std::copy(at + 1, other.stages.begin() + other.count--, at);
      const stage_kind kind = epilogue_.stages[std::size_t(i)].kind;
      if (all_finished_by(other)) return fmt::format("{} is left out", name_of(kind));
      other = epilogue_;
      if (kind != stage_kind::gelu && kind != stage_kind::gelu_tanh) continue;
      const bool by_erf = kind == stage_kind::gelu;
      other.stages[std::size_t(i)].kind = by_erf ? stage_kind::gelu_tanh : stage_kind::gelu;
      if (all_finished_by(other))
        return fmt::format("GELU is computed by {}, not by {}", by_erf ? "tanh" : "erf",
                           by_erf ? "erf" : "tanh");
    }
    other = epilogue_;
    std::reverse(other.stages.begin(), other.stages.begin() + other.count);
    if (all_finished_by(other)) return "the stages of the epilogue are applied in reverse order";
    const auto with_factor = [](finished_element f, double factor, double more) {
      const double size = std::abs(factor);
      return finished_element{factor * f.value + more, size * f.gain, size * f.roundings,
                              size * f.extra};
    };
    if (all_are([&, a = alpha, b = beta](const sample& s, double ab) {
          return with_factor(finish(s, epilogue_, a * ab), 1, b * s.c0);
        }))
      return "the epilogue is applied before beta C is added";
    if (all_are([&, a = alpha, b = beta](const sample& s, double ab) {
          return with_factor(finish(s, epilogue_, ab), a, b * s.c0);
        }))
      return "the epilogue is applied before alpha";
    return std::nullopt;
  }

  std::optional<std::string> other_scalars() const {
    const auto [alpha, beta] = scalars_;
    const double scale_a = problem_.scale_a, scale_b = problem_.scale_b;
    const double scales = scale_a * scale_b;  // part of alpha here
    const std::pair<scalars, const char*> guesses[] = {
        {{0.0, 0.0}, all_zero_ ? "every element is 0" : "they are 0"},
        {{0.0, 1.0}, "C is as it was, nothing is written"},
        {{0.0, beta}, "A B is not added"},
        {{scales, beta}, "alpha is left out"},
        {{alpha / scales, beta}, "the scales of A and B are left out"},
        {{alpha / scale_a, beta}, "the scale of A is left out"},
        {{alpha / scale_b, beta}, "the scale of B is left out"},
        {{alpha, 0.0}, "beta C is left out"},
        {{alpha, 1.0}, "C is added without beta"},
        {{scales, 0.0}, "alpha and beta C are left out"},
        {{scales, 1.0}, "alpha and beta are left out"},
        {{-alpha, -beta}, "they have the opposite sign"},
    };
    for (const auto& [guess, text] : guesses) {
      if (beta == 0.0 && guess.beta != 0.0) continue;
      const auto fit = [&, with = guess](const sample& s) { return fits(s, with, dot(s.a, s.b)); };
      if (std::all_of(samples_.begin(), samples_.end(), fit)) return text;
    }
    return std::nullopt;
  }

  std::optional<std::string> other_factors() const {
    const auto& a = operands_.a;
    const auto& b = operands_.b;
    const std::int64_t m = problem_.m, n = problem_.n, k = problem_.k;
    if (m == k && k == n &&
        all_fit([&](const sample& s) { return dot(s.a, column_of(a, s.product, s.at.col)); }))
      return "A A is computed, not A B";
    if (k == n && m == k &&
        all_fit([&](const sample& s) { return dot(row_of(b, s.b_number, s.at.row), s.b); }))
      return "B B is computed, not A B";
    for (const bool packed : {false, true})
      if (auto found = other_order(packed)) return found;
    if (m == n && all_fit([&](const sample& s) {
          return dot(row_of(a, s.product, s.at.col), column_of(b, s.b_number, s.at.row));
        }))
      return "A B is stored transposed";
    return std::nullopt;
  }

  // A, B or both transposed, or all matrices column-major. `packed`: without gaps.
  std::optional<std::string> other_order(bool packed) const {
    const auto& a = operands_.a;
    const auto& b = operands_.b;
    const std::int64_t m = problem_.m, n = problem_.n, k = problem_.k;
    const auto row_of_a = [&](const sample& s, std::int64_t row) {
      numbers values;
      for (std::int64_t i = 0; i < k; ++i) values.push_back(misread(a, s.product, row, i, packed));
      return values;
    };
    const auto column_of_b = [&](const sample& s, std::int64_t col) {
      numbers values;
      for (std::int64_t i = 0; i < k; ++i) values.push_back(misread(b, s.b_number, i, col, packed));
      return values;
    };
    const layout given = problem_.layout;
    if (all_fit([&](const sample& s) { return dot(s.a, column_of_b(s, s.at.col)); }))
      return misreading(b, "B", given, a.transposed ? layout::tt : layout::nt);
    if (all_fit([&](const sample& s) { return dot(row_of_a(s, s.at.row), s.b); }))
      return misreading(a, "A", given, b.transposed ? layout::tt : layout::tn);
    if (a.transposed == b.transposed && all_fit([&](const sample& s) {
          return dot(row_of_a(s, s.at.row), column_of_b(s, s.at.col));
        }))
      return misreading(a, "A and B", given, layout::tt);
    if (a.transposed || b.transposed || (!packed && (m != n || n != k))) return std::nullopt;
    const bool by_columns = all_fit([&](const sample& s) {
      const std::int64_t at = s.at.row * operands_.c.ld + s.at.col;
      const std::int64_t row = packed ? at % m : s.at.col, col = packed ? at / m : s.at.row;
      return col < n ? dot(row_of_a(s, row), column_of_b(s, col)) : sum{};
    });
    if (by_columns) return "it is column-major: exchange A and B, and M and N";
    return std::nullopt;
  }

  // A, B or both of another matrix of the batch: everywhere the same, or at a fixed distance.
  std::optional<std::string> other_product() const {
    constexpr std::int64_t kMostTried = 64;
    const std::int64_t count = problem_.batch;
    if (problem_.groups > 0) return other_group(std::min(problem_.groups, kMostTried));
    if (count == 1) return std::nullopt;
    for (std::int64_t i = 0; i < std::min(count, kMostTried); ++i) {
      const auto fixed = [i](const sample&) { return i; };
      const auto further = [i, count](const sample& s) { return (s.product + i) % count; };
      if (const auto part = from_product(further); i > 0 && part) {
        const std::int64_t given = samples_.front().product;
        return fmt::format("product {} is computed with {} of product {}", given, *part,
                           further(samples_.front()));
      }
      if (const auto part = from_product(fixed))
        return fmt::format("every product is computed with {} of product {}", *part, i);
    }
    return std::nullopt;
  }
  // The B of another group, among the first `tried`.
  std::optional<std::string> other_group(std::int64_t tried) const {
    const std::int64_t count = problem_.groups;
    const auto all_have = [&](const auto& group) {
      return all_fit(
          [&](const sample& s) { return dot(s.a, column_of(operands_.b, group(s), s.at.col)); });
    };
    for (std::int64_t i = 0; i < tried; ++i) {
      const auto further = [i, count](const sample& s) { return (s.b_number + i) % count; };
      if (i > 0 && all_have(further))
        return fmt::format("group {} is computed with the B of group {}", samples_.front().b_number,
                           further(samples_.front()));
      if (all_have([i](const sample&) { return i; }))
        return fmt::format("they are computed with the B of group {}", i);
    }
    // Offsets of other numbers move each row's group by its own distance.
    const auto has_another = [&](const sample& s) {
      for (std::int64_t i = 0; i < tried; ++i)
        if (i != s.b_number && fits(s, scalars_, dot(s.a, column_of(operands_.b, i, s.at.col))))
          return true;
      return false;
    };
    if (samples_.size() >= kEnoughToSearch && std::ranges::all_of(samples_, has_another))
      return "the rows of a group are computed with the B of different groups, as with the offsets "
             "of an earlier call";
    return std::nullopt;
  }
  // "A", "B" or "A and B", if all samples use them from that matrix.
  template <class Product>
  std::optional<std::string> from_product(const Product& product) const {
    const auto other_a = [&](const sample& s) { return row_of(operands_.a, product(s), s.at.row); };
    const auto other_b = [&](const sample& s) {
      return column_of(operands_.b, product(s), s.at.col);
    };
    if (all_fit([&](const sample& s) { return dot(s.a, other_b(s)); })) return "B";
    if (all_fit([&](const sample& s) { return dot(other_a(s), s.b); })) return "A";
    if (all_fit([&](const sample& s) { return dot(other_a(s), other_b(s)); })) return "A and B";
    return std::nullopt;
  }

  // The only k for which `fit(sample, k)` holds for every sample, or -1.
  template <class Fit>
  std::int64_t only_k(const Fit& fit) const {
    if (samples_.size() < kEnoughToSearch) return -1;
    std::int64_t only = -1;
    for (std::int64_t k = 0; k < problem_.k; ++k) {
      std::size_t i = 0;
      while (i < samples_.size() && fit(i, std::size_t(k))) ++i;
      if (i < samples_.size()) continue;
      if (only >= 0) return -1;
      only = k;
    }
    return only;
  }

  std::optional<std::string> terms_dropped() const {
    std::vector<std::vector<sum>> leading;  // [sample][number of terms]
    for (const sample& s : samples_) {
      leading.emplace_back(1);
      for (std::size_t k = 0; k < s.a.size(); ++k) {
        leading.back().push_back(leading.back().back());
        leading.back().back().add(s.a[k] * s.b[k]);
      }
    }
    const std::int64_t kept = only_k(
        [&](std::size_t i, std::size_t k) { return fits(samples_[i], scalars_, leading[i][k]); });
    if (kept < 0) return std::nullopt;
    if (kept == 0) return "they are 0";      // with beta != 0, other_scalars() found it
    const std::int64_t tile = kept & -kept;  // the largest power of two that divides it
    return fmt::format(
        "only the first {} of {} terms along k are summed{}", kept, problem_.k,
        problem_.k - kept < tile && tile >= 4 ? ": the last, partial tile is dropped" : "");
  }

  std::optional<std::string> one_term() const {
    std::vector<sum> sums;
    for (const sample& s : samples_) sums.push_back(dot(s.a, s.b));
    for (const int times : {-1, 1}) {
      const std::int64_t term = only_k([&](std::size_t i, std::size_t k) {
        sum changed = sums[i];
        changed.value += times * samples_[i].a[k] * samples_[i].b[k];
        return fits(samples_[i], scalars_, changed);
      });
      if (term >= 0)
        return fmt::format("term {} along k is {}", term, times < 0 ? "missing" : "added twice");
    }
    return std::nullopt;
  }

  // The sum over k of f(a) f(b).
  template <class Function>
  static sum dot_of(const sample& s, const Function& f) {
    sum total;
    for (std::size_t k = 0; k < s.a.size(); ++k) total.add(f(s.a[k]) * f(s.b[k]));
    return total;
  }

  // Needs several elements: a single one fits some roundings by chance.
  std::optional<std::string> inputs_rounded() const {
    if (samples_.size() < kEnoughToSearch) return std::nullopt;
    struct rounding {
      double (*to)(double);
      const char* name;
    };
    const rounding all[] = {
        {[](double x) { return double(float(x)); }, "fp32"},
        {[](double x) { return double(round_to_tf32(float(x))); }, "TF32"},
        {[](double x) { return double(truncate_to_tf32(float(x))); }, "TF32"},
        {[](double x) { return double(fp16_bits_to_float(float_to_fp16_bits(float(x)))); }, "fp16"},
        {[](double x) { return double(bf16_bits_to_float(float_to_bf16_bits(float(x)))); }, "bf16"},
        {[](double x) { return double(e4m3_bits_to_float(float_to_e4m3_bits(float(x)))); }, "e4m3"},
        {[](double x) { return double(e5m2_bits_to_float(float_to_e5m2_bits(float(x)))); }, "e5m2"},
    };
    for (const rounding& one : all) {
      if (all_fit([&](const sample& s) { return dot_of(s, one.to); }))
        return fmt::format("A and B are rounded to {} first", one.name);
    }
    return std::nullopt;
  }

  // Scales of other blocks, or none.
  std::optional<std::string> other_scales() const {
    const data::scaled_matrix &a = operands_.a, &b = operands_.b;
    if (a.extent == 0 && b.extent == 0) return std::nullopt;
    // `what` continues "the scales of A …". `instead` changes row (of B: column) i and step k to
    // the mistaken ones; nullptr: no scales.
    struct mistake {
      const char* what;
      void (*instead)(const data::scaled_matrix& x, std::int64_t& i, std::int64_t& k);
    };
    using matrix = data::scaled_matrix;
    using index = std::int64_t;
    constexpr mistake kAll[] = {
        {"are left out", nullptr},
        {"are those of the next block along K",
         [](const matrix& x, index&, index& k) { k += x.depth; }},
        {"are those of the block before along K",
         [](const matrix& x, index&, index& k) { k -= x.depth; }},
        {"are those of the first block for all of K",
         [](const matrix&, index&, index& k) { k = 0; }},
        {"are those of the last block for all of K",
         [](const matrix&, index&, index& k) { k = -1; }},
        {"are those of the next block along its other side",
         [](const matrix& x, index& i, index&) { i += x.extent; }},
        {"are those of the first block along its other side",
         [](const matrix&, index& i, index&) { i = 0; }},
    };
    const auto rescaled = [](const numbers& values, const matrix& x, index product, index i,
                             const mistake& m) {
      numbers other = values;
      for (std::size_t step = 0; x.extent > 0 && step < other.size(); ++step) {
        index other_i = i, k = static_cast<index>(step);
        const double own = scale_of(x, product, i, k);
        if (m.instead != nullptr) m.instead(x, other_i, k);
        other[step] *= (m.instead == nullptr ? 1.0 : scale_of(x, product, other_i, k)) / own;
      }
      return other;
    };
    for (const mistake& m : kAll) {
      const auto of_a = [&](const sample& s) { return rescaled(s.a, a, s.product, s.at.row, m); };
      const auto of_b = [&](const sample& s) { return rescaled(s.b, b, s.b_number, s.at.col, m); };
      if (a.extent > 0 && all_fit([&](const sample& s) { return dot(of_a(s), s.b); }))
        return fmt::format("the scales of A {}", m.what);
      if (b.extent > 0 && all_fit([&](const sample& s) { return dot(s.a, of_b(s)); }))
        return fmt::format("the scales of B {}", m.what);
      if (all_fit([&](const sample& s) { return dot(of_a(s), of_b(s)); }))
        return fmt::format("the scales of A and B {}", m.what);
    }
    return std::nullopt;
  }
  // The scale of row (of B: column) `i` at step k; indices past an end wrap around.
  static double scale_of(const data::scaled_matrix& x, std::int64_t product, std::int64_t i,
                         std::int64_t k) {
    const std::int64_t rows = data::op_rows(x), cols = data::op_cols(x);
    const std::int64_t along = x.is_b ? cols : rows, deep = x.is_b ? rows : cols;
    i = (i + along) % along;
    k = (k + deep) % deep;
    return x.is_b ? data::scale_at(x, product, k, i) : data::scale_at(x, product, i, k);
  }

  // fp8 elements read in the other fp8 format.
  std::optional<std::string> other_fp8() const {
    if (!is_scaled(problem_.dtype)) return std::nullopt;
    const auto other = [](kzoo_type type) { return type == KZOO_E4M3 ? KZOO_E5M2 : KZOO_E4M3; };
    const auto taken = [&](const numbers& values, kzoo_type type, bool changed) {
      numbers result = values;
      for (double& x : result)
        if (changed) x = data::decode(other(type), data::encode(type, static_cast<float>(x)));
      return result;
    };
    const auto& [a, b, c] = problem_.dtype;
    for (const auto& [in_a, in_b] : {std::pair{true, true}, {true, false}, {false, true}}) {
      if (!all_fit([&, x = in_a, y = in_b](const sample& s) {
            return dot(taken(s.a, a, x), taken(s.b, b, y));
          })) {
        continue;
      }
      if (in_a && in_b && a == b)
        return fmt::format("A and B are read as {}, not {}", type_name(other(a)), type_name(a));
      if (in_a && in_b) return "the types of A and B are mistaken for each other";
      const kzoo_type given = in_a ? a : b;
      return fmt::format("{} is read as {}, not {}", in_a ? "A" : "B", type_name(other(given)),
                         type_name(given));
    }
    return std::nullopt;
  }

  // Sequential sums of narrow elements, rounded to 16 bits after every term.
  std::optional<std::string> narrow_sums() const {
    if (is_integer(problem_.dtype) || type_size(problem_.dtype.a) > 2) return std::nullopt;
    for (const kzoo_type type : {KZOO_F16, KZOO_BF16}) {
      const auto round = [&](double x) {
        return data::decode(type, data::encode(type, round_to_odd(x)));
      };
      for (const bool fused : {true, false}) {
        const bool explained = all_fit([&](const sample& s) {
          sum total;
          for (std::size_t k = 0; k < s.a.size(); ++k) {
            const double term = s.a[k] * s.b[k];
            total.value = round(total.value + (fused ? term : round(term)));
            total.magnitude += std::abs(term);
          }
          return total;
        });
        if (explained) return fmt::format("sums are kept in {}", type_name(type));
      }
    }
    return std::nullopt;
  }

  const problem problem_;
  const operands operands_;
  const scalars scalars_;
  const applied_epilogue epilogue_;
  const tolerance tolerance_;
  const bool all_zero_;
  std::vector<sample> samples_;
};

}  // namespace

double scanned::of_usual() const {
  return compared == 0 ? 0 : std::sqrt(squared_of_usual / static_cast<double>(compared));
}

double exact_element(const problem& p, std::int64_t row, std::int64_t col) {
  const operands o = operands_of(p);
  const scalars s = held_scalars(p);
  const std::int64_t product = row / p.m;
  const double unfinished =
      combine(p.dtype.c, s,
              dot(row_of(o.a, product, row % p.m), column_of(o.b, b_of_row(o, row), col)).value,
              initial_c(o, s, row, col));
  return finished(applied_epilogue(p), unfinished, row, col).value;
}

std::optional<std::string> likely_cause(const expected_result& t, kzoo_precision declared,
                                        const scanned& found) {
  return cause_search(t, declared, found).cause();
}

}  // namespace kzoo::reference
