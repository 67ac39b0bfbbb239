#pragma once
// Results for the reference to judge: correct ones, from plain loops over the same inputs, which a
// test can then change.

#include "core/operands.hpp"
#include "core/problem.hpp"
#include "data/contents.hpp"
#include "devices/backend.hpp"
#include "reference/judge.hpp"

#include <kzoo/type_names.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kzoo::samples {

// Of op(x) of a product; of A and B without their scales.
inline double value_at(const data::matrix& x, std::int64_t product, std::int64_t row,
                       std::int64_t col) {
  return data::decode(x.type, data::word(x, data::op_index(x, product, row, col)));
}
inline double value_at(const data::matrix& x, std::int64_t row, std::int64_t col) {
  return value_at(x, 0, row, col);
}
inline double value_at(const data::scaled_matrix& x, std::int64_t product, std::int64_t row,
                       std::int64_t col) {
  return data::number_at(x, product, row, col,
                         [&](std::int64_t index) { return data::word(x, index); });
}
inline double value_at(const data::scaled_matrix& x, std::int64_t row, std::int64_t col) {
  return value_at(x, 0, row, col);
}

// The whole buffer of C, as it is before a kernel runs.
class buffer {
 public:
  explicit buffer(const problem& p) : c_(operands_of(p).c), size_(type_size(p.dtype.c)) {
    bytes_.resize(std::size_t(data::word_count(c_)) * size_);
    for (std::int64_t i = 0; i < data::word_count(c_); ++i) put_word(i, data::word(c_, i));
  }

  std::span<const std::byte> bytes() const { return bytes_; }
  const data::matrix& matrix() const { return c_; }

  void put_word(std::int64_t index, data::word_bits bits) {
    std::memcpy(bytes_.data() + std::size_t(index) * size_, &bits, size_);
  }
  data::word_bits word(std::int64_t index) const {
    data::word_bits bits = 0;
    std::memcpy(&bits, bytes_.data() + std::size_t(index) * size_, size_);
    return bits;
  }
  void put(std::int64_t row, std::int64_t col, double value) {
    const std::int64_t index = data::index_of(c_, row, col);
    if (c_.type == KZOO_I32) {
      put_word(index, static_cast<std::uint32_t>(static_cast<std::int64_t>(value)));
    } else if (c_.type == KZOO_F64) {
      put_word(index, std::bit_cast<std::uint64_t>(value));
    } else {
      put_word(index, data::encode(c_.type, static_cast<float>(value)));
    }
  }
  double at(std::int64_t row, std::int64_t col) const {
    return data::decode(c_.type, word(data::index_of(c_, row, col)));
  }
  void unwrite(std::int64_t row, std::int64_t col) {
    const std::int64_t index = data::index_of(c_, row, col);
    put_word(index, data::word(c_, index));
  }

 private:
  data::matrix c_;
  std::size_t size_;
  std::vector<std::byte> bytes_;
};

// fp32 sums in three orders, each a correct kernel.
inline float sequential(std::span<const float> terms) {
  float sum = 0;
  for (float term : terms) sum += term;
  return sum;
}
inline float reversed(std::span<const float> terms) {
  float sum = 0;
  for (std::size_t i = terms.size(); i-- > 0;) sum += terms[i];
  return sum;
}
inline float pairwise(std::span<const float> terms) {
  if (terms.size() == 1) return terms[0];
  const std::size_t half = terms.size() / 2;
  return pairwise(terms.first(half)) + pairwise(terms.subspan(half));
}

// The operand of this name as the ABI describes it, from its words in memory.
class memory_of {
 public:
  memory_of(const problem& p, std::string_view name) {
    for (const named_operand& operand : named_operands(p))
      if (operand.name == name) stored_ = operand.stored;
  }
  double at(std::int64_t row, std::int64_t col, std::int64_t product = 0) const {
    const std::int64_t index = data::kRedzone + product * stored_.stride + row * stored_.ld + col;
    return data::decode(stored_.type, data::word(stored_, index));
  }

 private:
  data::matrix stored_{};
};

// What A's element (i, k), or B's (k, i), of a product or group is multiplied by, as abi.h says it.
inline double scale_in_memory(const problem& p, std::string_view name, std::int64_t i,
                              std::int64_t k, std::int64_t product = 0) {
  const kzoo_problem abi = to_abi(p);
  const kzoo_scale_block block = name == "scale_a" ? abi.scale_block_a : abi.scale_block_b;
  if (block.extent == 0) return 1;
  const memory_of scales(p, name);
  return block.extent == 1 ? scales.at(k / block.depth, i, product)
                           : scales.at(i / block.extent, k / block.depth, product);
}
inline std::int64_t group_in_memory(const problem& p, std::int64_t row) {
  const memory_of offsets(p, "offsets");
  std::int64_t group = 0;
  while (offsets.at(0, group + 1) <= double(row)) ++group;
  return group;
}

struct recipe {
  float (*sum)(std::span<const float>) = sequential;
  float (*input)(float) = [](float x) { return x; };  // applied to each element of A and B
  std::function<bool(std::int64_t k)> takes = [](std::int64_t) { return true; };
};

// Which product's A and B are multiplied for a product of a batch; of groups, which group's B.
using choice = std::function<std::int64_t(std::int64_t product)>;
inline std::int64_t its_own(std::int64_t product) { return product; }

// C as a kernel in fp32 (fp64, wrapping integers) computes it.
inline buffer computed(const problem& p, const recipe& how = {}, const choice& a_of = its_own,
                       const choice& b_of = its_own) {
  const operands o = operands_of(p);
  buffer result(p);
  std::vector<float> a, b, terms;
  for (std::int64_t i = 0; i < p.all_rows(); ++i)
    for (std::int64_t k = 0; k < p.k; ++k)
      a.push_back(how.input(float(value_at(o.a, a_of(i / p.m), i % p.m, k) *
                                  scale_in_memory(p, "scale_a", i % p.m, k, a_of(i / p.m)))));
  for (std::int64_t j = 0; j < std::max(p.batch, p.groups) * p.n; ++j)
    for (std::int64_t k = 0; k < p.k; ++k)
      b.push_back(how.input(float(value_at(o.b, b_of(j / p.n), k, j % p.n) *
                                  scale_in_memory(p, "scale_b", j % p.n, k, b_of(j / p.n)))));
  for (std::int64_t i = 0; i < p.all_rows(); ++i) {
    const std::int64_t product = p.groups > 0 ? group_in_memory(p, i) : i / p.m;
    for (std::int64_t j = 0; j < p.n; ++j) {
      const float* const x = a.data() + i * p.k;
      const float* const y = b.data() + (product * p.n + j) * p.k;
      const double c0 = p.beta == 0.0 ? 0.0 : result.at(i, j);
      if (is_integer(p.dtype)) {
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < p.k; ++k)
          if (how.takes(k)) sum += std::int64_t(x[k]) * std::int64_t(y[k]);
        const auto all = std::uint64_t(std::int64_t(p.alpha)) * std::uint64_t(sum) +
                         std::uint64_t(std::int64_t(p.beta)) * std::uint64_t(std::int64_t(c0));
        result.put_word(data::index_of(o.c, i, j), static_cast<std::uint32_t>(all));
        continue;
      }
      if (p.dtype.c == KZOO_F64) {
        double sum = 0;
        for (std::int64_t k = 0; k < p.k; ++k)
          if (how.takes(k))
            sum += value_at(o.a, product, i % p.m, k) * value_at(o.b, product, k, j);
        result.put(i, j, p.alpha * sum + (p.beta == 0.0 ? 0.0 : p.beta * c0));
        continue;
      }
      terms.clear();
      for (std::int64_t k = 0; k < p.k; ++k)
        if (how.takes(k)) terms.push_back(x[k] * y[k]);
      const float sum = terms.empty() ? 0.0f : how.sum(terms);
      const float scaled = float(p.alpha) * float(p.scale_a * p.scale_b) * sum;
      result.put(i, j, p.beta == 0.0 ? scaled : scaled + float(p.beta) * float(c0));
    }
  }
  return result;
}

inline reference::judgement judged(const problem& p, const buffer& words) {
  return reference::judge(reference::expected_result(p), usual_precision(p.dtype.a), words.bytes());
}

// As each run is judged, on its device.
inline reference::product_findings judged_on_cpu(const problem& p, kzoo_precision declared,
                                                 const buffer& words) {
  return devices::open_cpu()->judge(words.bytes().data(), {p, declared}, devices::random_key());
}
inline reference::product_findings judged_on_cpu(const problem& p, const buffer& words) {
  return judged_on_cpu(p, usual_precision(p.dtype.a), words);
}

// Why the reference, or the device, does not take the result for right; empty if both do.
inline std::string objection_to(const problem& p, const buffer& words) {
  const reference::judgement j = judged(p, words);
  if (!j.right || !j.reason.empty()) return "not right: " + j.reason;
  return judged_on_cpu(p, words).right() ? "" : "not right on the device";
}

}  // namespace kzoo::samples
