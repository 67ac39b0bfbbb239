#include "data/contents.hpp"
#include "data/element.hpp"
#include "data/matrix.hpp"
#include "data/rows.hpp"

#include "core/operands.hpp"
#include "core/problem.hpp"
#include "devices/backend.hpp"
#include "devices/element_loops.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <vector>

using namespace kzoo;

namespace {

constexpr kzoo_type kTypes[] = {KZOO_F32, KZOO_F16, KZOO_BF16, KZOO_I32,
                                KZOO_F64, KZOO_I8,  KZOO_E4M3, KZOO_E5M2};
constexpr kzoo_type kFloats[] = {KZOO_F32, KZOO_F16, KZOO_BF16, KZOO_F64, KZOO_E4M3, KZOO_E5M2};

constexpr data::matrix small(kzoo_type type, data::content inside) {
  return {type, inside, 3, 5, 8, 42};
}

data::changes changes_in(devices::backend& on, void* words, const data::matrix& x) {
  const devices::filled_buffer one{words, x};
  return on.find_changes({&one, 1}).front();
}

}  // namespace

TEST_CASE("a matrix lies between two redzones, its rows ld apart", "[data]") {
  const data::matrix x = small(KZOO_F32, data::content::uniform);
  CHECK(data::word_count(x) == 3 * 8 + 2 * data::kRedzone);
  CHECK(data::index_of(x, 2, 4) == data::kRedzone + 2 * 8 + 4);
  CHECK_FALSE(data::is_inside(x, data::kRedzone - 1));
  CHECK(data::is_inside(x, data::kRedzone));
  CHECK(data::is_inside(x, data::index_of(x, 0, 4)));
  CHECK_FALSE(data::is_inside(x, data::index_of(x, 0, 5)));
  CHECK(data::is_inside(x, data::index_of(x, 2, 4)));
  CHECK_FALSE(data::is_inside(x, data::kRedzone + 3 * 8));
  int inside = 0;
  for (std::int64_t i = 0; i < data::word_count(x); ++i) inside += data::is_inside(x, i);
  CHECK(inside == 3 * 5);
}

TEST_CASE("the rows of op(x) are the columns of a matrix that is transposed in memory", "[data]") {
  data::matrix x{KZOO_F16, data::content::positive_then_negative, 3, 5, 8, 42, true};
  CHECK(data::op_rows(x) == 5);
  CHECK(data::op_cols(x) == 3);
  CHECK(data::op_index(x, 0, 4, 2) == data::index_of(x, 2, 4));
  // The signs go by the columns of op(x): the first two of three are positive.
  for (std::int64_t row = 0; row < 5; ++row) {
    for (std::int64_t col = 0; col < 3; ++col) {
      const double value = data::decode(x.type, data::word(x, data::op_index(x, 0, row, col)));
      CHECK((value > 0) == (col < 2));
    }
  }
}

TEST_CASE("a row has the elements that its words hold", "[data]") {
  using data::content;
  for (const kzoo_type type : kTypes)
    for (const content inside : {content::uniform, content::integers, content::signs,
                                 content::sign_in_row, content::normal, content::specials})
      for (const bool transposed : {false, true})
        for (const std::int64_t late_row : {-1, 4}) {
          data::scaled_matrix x{small(type, inside)};
          x.count = 2;
          x.stride = 26;
          x.transposed = transposed;
          x.late_row = late_row;
          CAPTURE(type, int(inside), transposed, late_row);
          for (std::int64_t row = 0; row < op_rows(x); ++row) {
            std::vector<double> read(static_cast<std::size_t>(op_cols(x) - 1));
            data::read_row(x, 1, {row, 1}, read);
            for (std::int64_t col = 1; col < op_cols(x); ++col) {
              const double got = read[static_cast<std::size_t>(col - 1)];
              const double held = data::decode(type, data::word(x, data::op_index(x, 1, row, col)));
              if (got != held && !(std::isnan(got) && std::isnan(held))) CHECK(got == held);
            }
          }
        }
}

TEST_CASE("words are the same wherever they are computed", "[data]") {
  // Worker and reference never exchange data, so these bits are a contract.
  static_assert(data::hash(0, 0) == 0xe220a8397b1dcdafu);  // splitmix64's first output for seed 0
  static_assert(data::decode(KZOO_I32, data::word(small(KZOO_I32, data::content::integers),
                                                  data::kRedzone)) >= -8);  // at compile time too
  CHECK(data::hash(1, 0) != data::hash(0, 0));
  CHECK(data::hash(0, 1) == 0x6e789e6aa1b965f4u);  // and its second
}

TEST_CASE("poison is a signalling NaN, outside every matrix and inside where requested", "[data]") {
  for (kzoo_type type : kFloats) {
    const bool is_fp8 = type_size(type) == 1;
    const data::word_bits quiet = type == KZOO_F32    ? 0x400000u
                                  : type == KZOO_F64  ? 0x8000000000000u
                                  : type == KZOO_F16  ? 0x200u
                                  : type == KZOO_BF16 ? 0x40u
                                  : type == KZOO_E5M2 ? 0x2u
                                                      : 0u;  // e4m3 has no quiet NaN
    std::set<data::word_bits> payloads;
    for (const auto inside : {data::content::uniform, data::content::poison}) {
      const data::matrix x = small(type, inside);
      for (std::int64_t i = 0; i < data::word_count(x); ++i) {
        const data::word_bits bits = data::word(x, i);
        const bool is_poison = inside == data::content::poison || !data::is_inside(x, i);
        REQUIRE(std::isnan(data::decode(type, bits)) == is_poison);
        if (is_poison) REQUIRE((bits & quiet) == 0);
        if (is_poison) payloads.insert(bits);
      }
    }
    CHECK(payloads.size() > (is_fp8 ? 1 : 60));
  }
}

TEST_CASE("poison is a NaN of either sign, whatever the random bits", "[data]") {
  for (kzoo_type type : kFloats) {
    const auto size = 8 * type_size(type);
    const data::word_bits all = data::poison_bits(type, ~std::uint64_t(0));
    const data::word_bits none = data::poison_bits(type, 0);
    CHECK(std::isnan(data::decode(type, none)));
    CHECK(std::isnan(data::decode(type, all)));
    CHECK((all >> (size - 1)) == 1);
    CHECK((none >> (size - 1)) == 0);
  }
}

TEST_CASE("uniform elements are zero-mean in [-1, 1) and rounded to the type", "[data]") {
  for (kzoo_type type : kFloats) {
    const data::matrix x = {type, data::content::uniform, 200, 200, 200, 7};
    double sum = 0, squares = 0, least = 2, most = -2;
    for (std::int64_t i = 0; i < 200 * 200; ++i) {
      const data::word_bits bits = data::word(x, data::kRedzone + i);
      const double value = data::decode(type, bits);
      if (type != KZOO_F64) REQUIRE(data::encode(type, static_cast<float>(value)) == bits);
      sum += value;
      squares += value * value;
      least = std::min(least, value);
      most = std::max(most, value);
    }
    CHECK(least >= -1.0);
    CHECK(least < -0.99);
    CHECK(most <= 1.0);
    CHECK(most > 0.99);
    CHECK(std::abs(sum / 40000) < 0.015);  // 5 sigma of a fair mean
    CHECK(squares / 40000 == Approx(1.0 / 3).epsilon(0.03));
  }
}

TEST_CASE("a first row or column is larger by 2^30, or 0", "[data]") {
  using enum data::content;
  for (const kzoo_type type : {KZOO_F32, KZOO_F64}) {
    const data::matrix even = {type, uniform, 40, 30, 33, 7};
    const auto value = [&](data::content inside, std::int64_t row, std::int64_t col) {
      data::matrix x = even;
      x.inside = inside;
      return data::decode(type, data::word(x, data::index_of(x, row, col)));
    };
    for (std::int64_t row = 0; row < even.rows; ++row) {
      for (std::int64_t col = 0; col < even.cols; ++col) {
        const double plain = value(uniform, row, col);
        REQUIRE(value(large_first_col, row, col) == plain * (col == 0 ? 0x1p30 : 1.0));
        REQUIRE(value(large_first_row, row, col) == plain * (row == 0 ? 0x1p30 : 1.0));
        REQUIRE(value(zero_first_col, row, col) == (col == 0 ? 0.0 : plain));
        REQUIRE(value(zero_first_row, row, col) == (row == 0 ? 0.0 : plain));
      }
    }
  }
}

TEST_CASE("integers are all those from -8 to 8", "[data]") {
  for (kzoo_type type : kTypes) {
    const data::matrix x = {type, data::content::integers, 100, 100, 100, 7};
    std::set<double> values;
    for (std::int64_t i = 0; i < 100 * 100; ++i)
      values.insert(data::decode(type, data::word(x, data::kRedzone + i)));
    CHECK(values.size() == 17);
    CHECK(*values.begin() == -8);
    CHECK(*values.rbegin() == 8);
    for (double value : values) CHECK(value == std::floor(value));
  }
}

TEST_CASE("integer contents are exact in the types that they are meant for", "[data]") {
  const auto values = [](kzoo_type type, data::content inside, std::int64_t rows) {
    data::matrix x = {type, inside, rows, 64, 64, 7};
    if (inside == data::content::sparse_signs) x.parameter = 9;
    if (inside == data::content::odd) x.parameter = type == KZOO_F64 ? 26 : 12;
    std::map<double, int> counts;
    for (std::int64_t i = 0; i < rows * 64; ++i)
      ++counts[data::decode(type, data::word(x, data::kRedzone + i))];
    return counts;
  };
  const auto odd = values(KZOO_F32, data::content::odd, 1000);
  CHECK(odd.size() == 2 * 1024);
  CHECK(odd.begin()->first == -4095);
  for (const auto& [value, count] : odd) {
    REQUIRE(std::fmod(std::abs(value), 2) == 1);
    REQUIRE(std::abs(value) >= 2049);
    REQUIRE(double(round_to_tf32(float(value))) != value);
  }
  for (kzoo_type type : kTypes) {
    const auto signs = values(type, data::content::signs, 100);
    CHECK(signs.size() == 3);
    CHECK(signs.at(0) == Approx(6400 / 3).epsilon(0.1));
    const auto sparse = values(type, data::content::sparse_signs, 512 * 9);
    CHECK(sparse.size() == 3);
    CHECK(sparse.at(0) == Approx(512 * 9 * 64 * (1 - 0.1 * 2 / 3)).epsilon(0.01));
    CHECK(values(type, data::content::bits, 100).size() == 2);
  }
  const auto wide = values(KZOO_F64, data::content::odd, 1000);
  for (const auto& [value, count] : wide) {
    REQUIRE(std::fmod(std::abs(value), 2) == 1);
    REQUIRE(std::abs(value) > 0x1p25);
    REQUIRE(std::abs(value) < 0x1p26);
    REQUIRE(double(float(value)) != value);
  }
  const auto keys = [](const std::map<double, int>& counts) {
    std::vector<double> all;
    for (const auto& [value, count] : counts) all.push_back(value);
    return all;
  };
  CHECK(keys(values(KZOO_E4M3, data::content::positive, 100)) ==
        std::vector<double>{9, 11, 13, 15});
  CHECK(keys(values(KZOO_E5M2, data::content::positive, 100)) == std::vector<double>{5, 7});
  CHECK(keys(values(KZOO_I8, data::content::positive, 100)).back() == 127);
  for (kzoo_type type : {KZOO_F16, KZOO_BF16}) {
    const data::matrix x = {type, data::content::positive_then_negative, 40, 65, 70, 7};
    for (std::int64_t row = 0; row < 40; ++row) {
      for (std::int64_t col = 0; col < 65; ++col) {
        const double value = data::decode(type, data::word(x, data::index_of(x, row, col)));
        REQUIRE(std::abs(value) >= 1);
        REQUIRE(std::abs(value) <= 128);
        REQUIRE((value > 0) == (col < 33));
      }
    }
  }
}

TEST_CASE("a lone product has all bits of its type", "[data]") {
  for (const kzoo_type type : kFloats) {
    for (const layout given : kLayouts) {
      for (const fill what : {fill::lone, fill::lone_b}) {
        problem p = sized(9, 7, 300, type);
        p.data = what;
        p.layout = given;
        const operands o = operands_of(p);
        const auto value = [](const data::matrix& x, std::int64_t row, std::int64_t col) {
          return data::decode(x.type, data::word(x, data::op_index(x, 0, row, col)));
        };
        std::set<std::int64_t> places;
        for (std::int64_t row = 0; row < p.m; ++row) {
          for (std::int64_t col = 0; col < p.n; ++col) {
            double product = 0;
            int count = 0;
            for (std::int64_t k = 0; k < p.k; ++k) {
              const double a = value(o.a, row, k), b = value(o.b, k, col);
              if (a * b == 0) continue;
              product = a * b;
              places.insert(k);
              ++count;
            }
            REQUIRE(count == 1);
            const double least = std::ldexp(1.0, stored_bits(type));
            REQUIRE(std::abs(product) > least);
            REQUIRE(std::abs(product) < 2 * least);
            REQUIRE(std::fmod(product, 2) != 0);
          }
        }
        CHECK(places.size() > 4);
      }
    }
  }
}

TEST_CASE("integers with a spread are multiplied by powers of two of rows and columns", "[data]") {
  for (const layout given : kLayouts) {
    problem p = sized(50, 60, 40);
    p.data = fill::integers;
    p.layout = given;
    p.beta = 1;
    p.batch = 2;
    problem spread = p;
    spread.data.spread = 20;
    const operands plain = operands_of(p), scaled = operands_of(spread);
    // The power of two of an element; 0 where it is 0.
    const auto power = [](const data::matrix& x, const data::matrix& y, std::int64_t product,
                          std::int64_t row, std::int64_t col) {
      const std::int64_t index = data::op_index(x, product, row, col);
      const double was = data::decode(x.type, data::word(x, index));
      const double is = data::decode(y.type, data::word(y, index));
      REQUIRE((was == 0) == (is == 0));
      return was == 0 ? 0.0 : is / was;
    };
    std::map<std::int64_t, std::set<double>> of_row, of_col;
    for (std::int64_t product = 0; product < 2; ++product) {
      for (std::int64_t i = 0; i < p.m; ++i)
        for (std::int64_t k = 0; k < p.k; ++k)
          if (const double by = power(plain.a, scaled.a, product, i, k); by != 0)
            of_row[i].insert(by);
      for (std::int64_t k = 0; k < p.k; ++k)
        for (std::int64_t j = 0; j < p.n; ++j)
          if (const double by = power(plain.b, scaled.b, product, k, j); by != 0)
            of_col[j].insert(by);
    }
    std::set<double> all;
    for (const auto* each : {&of_row, &of_col}) {
      for (const auto& [line, powers] : *each) {
        REQUIRE(powers.size() == 1);
        all.insert(*powers.begin());
      }
    }
    CHECK(all.size() > 15);
    CHECK(*all.begin() >= 0x1p-20);
    CHECK(*all.rbegin() <= 1);
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j)
        if (const double by = power(plain.c, scaled.c, 1, i, j); by != 0)
          REQUIRE(by == *of_row.at(i).begin() * *of_col.at(j).begin());
  }
}

TEST_CASE("fills for timing are what they are called", "[data]") {
  struct moments {
    double mean = 0, square = 0, least = 9, most = -9, zeros = 0;
    std::set<double> values;
  };
  const auto of = [](fill f, double parameter, kzoo_type type) {
    problem p = sized(200, 8, 200, type);
    p.data = {f, parameter};
    const data::matrix x = operands_of(p).a;
    moments m;
    for (std::int64_t i = 0; i < 200 * 200; ++i) {
      const double value = data::decode(type, data::word(x, data::kRedzone + i));
      m.mean += value / 40000;
      m.square += value * value / 40000;
      m.least = std::min(m.least, value);
      m.most = std::max(m.most, value);
      m.zeros += value == 0;
      m.values.insert(value);
    }
    return m;
  };
  for (const kzoo_type type : kFloats) {
    const moments normal = of(fill::normal, 0, type);
    CHECK(std::abs(normal.mean) < 0.02);
    CHECK(normal.square == Approx(1.0 / 3).epsilon(0.05));
    CHECK(normal.most > 1.5);
    CHECK(normal.least >= -2);
    const moments sparse = of(fill::sparse, 0.75, type);
    CHECK(sparse.zeros / 40000 == Approx(0.75).epsilon(0.05));
    CHECK(sparse.square == Approx(0.25 / 3).epsilon(0.1));
    CHECK(of(fill::sparse, 1, type).zeros == 40000);
    const moments powers = of(fill::powers, 3, type);
    CHECK(powers.values == std::set<double>{-1, -0.5, -0.25, -0.125, 0.125, 0.25, 0.5, 1});
    CHECK(of(fill::zeros, 0, type).values == std::set<double>{0});
    CHECK(of(fill::ones, 0, type).values == std::set<double>{1});
  }
  for (const double value : of(fill::few_bits, 2, KZOO_F32).values) {
    int exponent = 0;
    const double significand = 8 * std::frexp(value, &exponent);  // 4 to 8, or 0
    REQUIRE(significand == std::trunc(significand));
  }
  for (const kzoo_type type : kFloats) {
    problem p = sized(300, 8, 300, type);
    p.data = fill::specials;
    const data::matrix x = operands_of(p).a;
    int infinite = 0, nan = 0;
    for (std::int64_t i = 0; i < 300 * 300; ++i) {
      const data::word_bits bits = data::word(x, data::kRedzone + i);
      const double value = data::decode(type, bits);
      infinite += std::isinf(value);
      nan += std::isnan(value);
      if (std::isnan(value)) CHECK(data::opposite(type, bits) == bits);
    }
    CHECK(infinite + nan > 300);
    CHECK(infinite + nan < 410);
    CHECK(nan > 90);
    CHECK((infinite == 0) == (type == KZOO_E4M3));
  }
  CHECK(of(fill::few_bits, 23, KZOO_F32).values == of(fill::uniform, 0, KZOO_F32).values);
  CHECK(of(fill::ones, 0, KZOO_I8).values == std::set<double>{1});
}

TEST_CASE("elements of 4 bits are all of -8 to 7, and -8 is its own opposite", "[data]") {
  problem p = sized(8, 40, 50, {KZOO_BF16, KZOO_I4, KZOO_BF16});
  const data::matrix b = operands_of(p).b;
  std::set<int> values;
  for (std::int64_t row = 0; row < b.rows; ++row) {
    for (std::int64_t col = 0; col < b.cols; ++col) {
      const data::word_bits word = data::word(b, data::index_of(b, row, col));
      const data::word_bits opposite = data::opposite(b.type, word);
      for (const int which : {0, 1}) {
        const int value = data::unpacked(word, which);
        values.insert(value);
        CHECK(data::unpacked(opposite, which) == (value == -8 ? -8 : -value));
      }
    }
  }
  CHECK(values.size() == 16);
}

TEST_CASE("the norm of a matrix is the largest magnitude that it can hold", "[data]") {
  std::vector<filling> all{{fill::scaled, 40}, {fill::scaled, -40}, {fill::uneven, 40}};
  for (const fill what : kFills) all.push_back({what, parameter_of(what).most / 2});
  for (const filling& data : all) {
    for (const kzoo_type type : {KZOO_F32, KZOO_F64}) {
      problem p = sized(40, 50, 1000, type);
      p.data = data;
      p.beta = 1;
      const operands o = operands_of(p);
      for (const data::matrix& x : std::initializer_list<data::matrix>{o.a, o.b, o.c}) {
        double largest = 0;
        for (std::int64_t row = 0; row < x.rows; ++row) {
          for (std::int64_t col = 0; col < x.cols; ++col) {
            const auto word = data::word(x, data::index_of(x, row, col));
            largest = std::max(largest, std::abs(data::decode(x.type, word)));
          }
        }
        INFO(filling_name(p.data) << " as " << data::norm_of(x) << ", found " << largest);
        CHECK(largest <= data::norm_of(x));
        CHECK(largest >= 0.8 * data::norm_of(x));
      }
    }
  }
}

TEST_CASE("each matrix and each seed has its own data", "[data]") {
  problem p;
  p.m = p.n = p.k = 16;
  p.beta = 1;
  std::set<std::uint64_t> keys;
  std::set<data::word_bits> first;
  for (std::uint64_t seed : {1, 2, 3}) {
    p.seed = seed;
    const operands o = operands_of(p);
    for (const data::matrix& x : std::initializer_list<data::matrix>{o.a, o.b, o.c}) {
      keys.insert(x.key);
      first.insert(data::word(x, data::kRedzone));
    }
  }
  CHECK(keys.size() == 9);
  CHECK(first.size() == 9);
}

TEST_CASE("C is poison only where beta is 0", "[data]") {
  problem p;
  CHECK(operands_of(p).c.inside == data::content::poison);
  p.beta = 0.5;
  CHECK(operands_of(p).c.inside == data::content::uniform);
  p.data = fill::integers;
  CHECK(operands_of(p).c.inside == data::content::integers);
  p.m = 3;
  p.n = 5;
  p.k = 7;
  p.padding = 2;
  const operands o = operands_of(p);
  CHECK((o.a.rows == 3 && o.a.cols == 7 && o.a.ld == 9));
  CHECK((o.b.rows == 7 && o.b.cols == 5 && o.b.ld == 9));
  CHECK((o.c.rows == 3 && o.c.cols == 5 && o.c.ld == 11));
}

TEST_CASE("an opposite has the other sign, but zeros, NaN and poison stay", "[data]") {
  for (const kzoo_type type : kTypes) {
    const auto bits = [&](float x) { return data::encode(type, x); };
    CHECK(data::opposite(type, bits(3)) == bits(-3));
    CHECK(data::opposite(type, bits(-3)) == bits(3));
    CHECK(data::opposite(type, bits(0)) == bits(0));
    if (is_integer(type)) continue;
    CHECK(data::opposite(type, bits(-0.0f)) == bits(-0.0f));
    CHECK(data::opposite(type, bits(INFINITY)) == bits(-INFINITY));
    CHECK(data::opposite(type, bits(NAN)) == bits(NAN));
    CHECK(data::unsigned_zero(type, bits(-0.0f)) == bits(0));
    CHECK(data::unsigned_zero(type, bits(-1)) == bits(-1));
  }
}

TEST_CASE("a late row has the opposite signs until it is filled again", "[data]") {
  const auto cpu = devices::open_cpu();
  for (const kzoo_type type : kTypes) {
    const data::matrix x{type, data::content::uniform, 70, 90, 95, 7};
    const std::size_t bytes = static_cast<std::size_t>(data::word_count(x)) * type_size(type);
    std::vector<std::byte> filled(bytes), late(bytes);
    data::matrix waits = x;
    waits.late_row = 33;
    cpu->fill(filled.data(), x);
    cpu->fill(late.data(), waits);
    CHECK_FALSE(changes_in(*cpu, late.data(), waits).any());
    const data::changes found = changes_in(*cpu, late.data(), x);
    CHECK(found.outside == 0);
    CHECK(found.inside > 80);  // zeros have no sign
    CHECK(found.inside <= 90);
    CHECK(data::coordinates_of(x, found.first_inside).row == 33);
    cpu->fill_row(late.data(), x, 33);
    CHECK(filled == late);
  }
}

namespace {

// Batches packed and padded, with an operand in common, in each layout.
std::vector<problem> batches() {
  std::vector<problem> all;
  for (const layout given : kLayouts) {
    for (const shared_operand shared : kAllOf<shared_operand>) {
      for (const std::int64_t padding : {0, 13}) {
        problem p = sized(9, 6, 5);
        p.batch = 7;
        p.layout = given;
        p.batch_shared = shared;
        p.batch_padding = padding;
        p.padding = padding / 6;
        all.push_back(p);
      }
    }
  }
  return all;
}

}  // namespace

TEST_CASE("the matrices of a batch are a stride apart, with NaN between them", "[data]") {
  for (const problem& p : batches()) {
    INFO(problem_name(p));
    const operands o = operands_of(p);
    CHECK(o.a.count == (p.batch_shared == shared_operand::a ? 1 : 7));
    CHECK(o.b.count == (p.batch_shared == shared_operand::b ? 1 : 7));
    for (const data::matrix& x : std::initializer_list<data::matrix>{o.a, o.b, o.c}) {
      std::int64_t inside = 0;
      for (std::int64_t i = data::kRedzone; i < data::kRedzone + data::span_of(x); ++i) {
        const data::coordinates at = data::coordinates_of(x, i);
        REQUIRE(data::index_of(x, at.row, 0) + at.col == i);
        REQUIRE(i < data::row_end(x, at.row));
        REQUIRE(data::is_inside(x, i) == (at.col < x.cols));
        if (at.col >= x.cols) REQUIRE(std::isnan(data::decode(x.type, data::word(x, i))));
        inside += at.col < x.cols;
      }
      CHECK(inside == data::all_rows(x) * x.cols);
      CHECK(data::row_end(x, data::all_rows(x) - 1) == data::word_count(x) - data::kRedzone);
    }
    CHECK(data::op_index(o.a, 3, 2, 4) ==
          data::kRedzone + 3 * p.stride_a() + (o.a.transposed ? 4 * p.lda() + 2 : 2 * p.lda() + 4));
    CHECK(data::index_of(o.c, 3 * p.m + 2, 4) ==
          data::kRedzone + 3 * p.stride_c() + 2 * p.ldc() + 4);
  }
}

TEST_CASE("a batch's digest sees what is between products", "[data]") {
  const auto cpu = devices::open_cpu();
  for (const problem& p : batches()) {
    INFO(problem_name(p));
    data::matrix x = operands_of(p).c;
    x.inside = data::content::uniform;
    x.late_row = 2 * p.m + 1;  // of all products
    std::vector<float> words(static_cast<std::size_t>(data::word_count(x)));
    cpu->fill(words.data(), x);
    x.late_row = -1;
    const data::changes late = changes_in(*cpu, words.data(), x);
    CHECK((late.inside == p.n && late.first_inside == data::index_of(x, 2 * p.m + 1, 0)));
    cpu->fill_row(words.data(), x, 2 * p.m + 1);
    CHECK_FALSE(changes_in(*cpu, words.data(), x).any());
    if (p.batch_padding == 0) continue;
    const std::uint64_t right = cpu->read(words.data(), x).digest;
    const std::int64_t between = data::index_of(x, 3 * p.m, 0) - 1;
    words[std::size_t(between)] = 1;
    CHECK(cpu->read(words.data(), x).digest != right);
    const data::changes found = changes_in(*cpu, words.data(), x);
    CHECK((found.inside == 0 && found.outside == 1 && found.first_outside == between));
    CHECK(cpu->read(words.data(), x).survey.outside == 1);
  }
}

TEST_CASE("the cpu fills a buffer with the words of its matrix", "[data][cpu]") {
  const auto cpu = devices::open_cpu();
  for (const kzoo_type type : kTypes) {
    for (const auto inside :
         {data::content::uniform, data::content::poison, data::content::signs}) {
      data::matrix x = small(type, inside);
      x.count = 3;
      x.stride = 3 * 8 + 7;
      std::vector<std::uint64_t> buffer(static_cast<std::size_t>(data::word_count(x)));
      for (const std::int64_t late : {-1, 4, -1, 8}) {
        INFO("type " << type << ", content " << static_cast<int>(inside) << ", late row " << late);
        x.late_row = late;
        ++x.key;
        cpu->fill(buffer.data(), x);
        std::vector<std::uint64_t> expected(buffer.size());
        for (std::int64_t i = 0; i < data::word_count(x); ++i)
          devices::fill_word(expected.data(), x, i);
        CHECK(buffer == expected);
        CHECK_FALSE(changes_in(*cpu, buffer.data(), x).any());
      }
    }
  }
}
