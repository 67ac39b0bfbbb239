#include "data/rows.hpp"
#include "devices/backend.hpp"
#include "devices/element_loops.hpp"
#include "devices/guarded_memory.hpp"
#include "os/parallel.hpp"
#include "reference/product_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace kzoo::devices {

namespace {

// Reads and judges results on the CPU, on all threads: reference/product_check.hpp.

using reference::element_sum;
using reference::product_check;
using reference::product_findings;
using reference::weighted_row;
using reference::weighted_sum;

weighted_row with_norm(const weighted_sum& sum) {
  return {sum.value, std::sqrt(sum.squares), sum.whole};
}

template <class T>
std::vector<T> for_rows(std::int64_t rows) {
  return std::vector<T>(static_cast<std::size_t>(rows));
}

// B w, for all matrices B.
std::vector<weighted_row> weigh_b(const product_check& check,
                                  const std::vector<std::int64_t>& weights) {
  const data::scaled_matrix& b = check.of.b;
  auto sums = for_rows<weighted_row>(b.count * check.k);
  for_each_row(b.count * check.k, check.n, [&](std::int64_t row) {
    std::vector<double> elements(weights.size());
    data::read_row(b, row / check.k, {row % check.k, 0}, elements);
    weighted_sum sum;
    for (std::size_t col = 0; col < elements.size(); ++col)
      reference::add(sum, check.integers, elements[col], weights[col]);
    sums[std::size_t(row)] = with_norm(sum);
  });
  return sums;
}

weighted_row row_of_product(const product_check& check, std::int64_t row,
                            const std::vector<weighted_row>& b) {
  const std::int64_t of_a = reference::a_of_row(check, row);
  const std::int64_t first = b_of_row(check.of, row) * check.k;
  std::vector<double> a(static_cast<std::size_t>(check.k));
  data::read_row(check.of.a, of_a, {row % check.m, 0}, a);
  weighted_row sum;
  for (std::size_t k = 0; k < a.size(); ++k)
    reference::add_product(sum, check, a[k], b[std::size_t(first) + k]);
  return sum;
}

// The weighted sum of a row with elements element(col).
template <class Element>
weighted_row weigh(const product_check& check, const std::vector<std::int64_t>& weights,
                   const Element& element) {
  weighted_sum sum;
  for (std::int64_t col = 0; col < check.n; ++col)
    reference::add(sum, check.integers, element(col), weights[std::size_t(col)]);
  return with_norm(sum);
}

bool is_right(const product_check& check, const element_sum& products, std::int64_t row,
              std::int64_t col, const void* output) {
  const data::matrix& c = check.of.c;
  const double got = data::decode(c.type, word_at(output, c, data::index_of(c, row, col)));
  return reference::is_element_right(check, products, reference::start_of(check, row, col), got,
                                     row, col);
}

// How many elements of these rows are wrong, in `count` columns from `first` on. The rows have one
// B.
std::array<std::int64_t, reference::kWholeRows> wrong_elements_of(const product_check& check,
                                                                  const reference::whole_rows& rows,
                                                                  std::int64_t first,
                                                                  std::int64_t count,
                                                                  const void* output) {
  const std::int64_t of_b = b_of_row(check.of, rows.front());
  std::vector<double> b(static_cast<std::size_t>(count));
  std::vector<element_sum> sums(rows.size() * b.size());
  for (std::int64_t k = 0; k < check.k; ++k) {
    data::read_row(check.of.b, of_b, {k, first}, b);
    auto sum = sums.begin();
    for (const std::int64_t row : rows) {
      const double a =
          data::element_at(check.of.a, reference::a_of_row(check, row), row % check.m, k);
      for (const double element : b) reference::add_product(*sum++, check, a, element);
    }
  }
  std::array<std::int64_t, reference::kWholeRows> wrong{};
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::int64_t i = 0; i < count; ++i)
      wrong[r] +=
          is_right(check, sums[r * b.size() + std::size_t(i)], rows[r], first + i, output) ? 0 : 1;
  return wrong;
}

void judge_rows(const void* buffer, const product_check& check, std::uint64_t key,
                product_findings& found) {
  const data::matrix& c = check.of.c;
  std::vector<std::int64_t> weights;
  weights.reserve(static_cast<std::size_t>(check.n));
  for (std::int64_t col = 0; col < check.n; ++col) weights.push_back(reference::weight(key, col));
  const std::vector<weighted_row> b = weigh_b(check, weights);
  const std::int64_t rows = check.batch * check.m;
  auto is_wrong = for_rows<char>(rows);
  for_each_row(rows, check.n + check.k, [&](std::int64_t row) {
    const weighted_row got = weigh(check, weights, [&](std::int64_t col) {
      return data::decode(c.type, word_at(buffer, c, data::index_of(c, row, col)));
    });
    const weighted_row start = weigh(
        check, weights, [&](std::int64_t col) { return reference::start_of(check, row, col); });
    is_wrong[std::size_t(row)] =
        reference::is_row_right(check, row_of_product(check, row, b), start, got) ? 0 : 1;
  });
  for (std::int64_t row = 0; row < rows; ++row) {
    if (is_wrong[std::size_t(row)] == 0) continue;
    if (found.wrong_rows++ == 0) found.row = row;
  }
}

// Judges one element of each part of C.
void judge_elements(const void* buffer, const product_check& check, std::uint64_t key,
                    product_findings& found) {
  const std::int64_t count = reference::drawn_elements(check);
  auto is_wrong = for_rows<char>(count);
  for_each_row(count, check.k, [&](std::int64_t i) {
    const data::coordinates at = reference::draw_element(check, key, i);
    is_wrong[std::size_t(i)] =
        is_right(check, reference::sum_products(check, at, 0, 1), at.row, at.col, buffer) ? 0 : 1;
  });
  for (std::int64_t i = 0; i < count; ++i) {
    if (is_wrong[std::size_t(i)] == 0) continue;
    if (found.wrong_elements++ == 0) found.row = reference::draw_element(check, key, i).row;
  }
}

// Reads a buffer in one pass.
data::reading read_all(const void* buffer, const data::matrix& x) {
  auto parts = for_rows<data::reading>(data::all_rows(x) + 1);
  for_each_row(data::all_rows(x), x.ld, [&](std::int64_t row) {
    const std::int64_t first = data::index_of(x, row, 0);
    for (std::int64_t i = first; i < data::row_end(x, row); ++i)
      read_word(parts[std::size_t(row)], buffer, x, i, i - first < x.cols);
  });
  for (std::int64_t i = 0; i < data::kRedzone; ++i)
    for (const std::int64_t index : {i, data::word_count(x) - 1 - i})
      read_word(parts.back(), buffer, x, index, false);
  data::reading all;
  for (const data::reading& part : parts) {
    all.digest += part.digest;
    all.survey.outside += part.survey.outside;
    all.survey.unwritten += part.survey.unwritten;
    all.survey.not_finite += part.survey.not_finite;
  }
  return all;
}

product_findings judge_product(const void* buffer, const product_check& check, std::uint64_t key) {
  product_findings findings;
  findings.c = read_all(buffer, check.of.c);
  if (check.after.count == 0)
    judge_rows(buffer, check, key, findings);
  else
    judge_elements(buffer, check, key, findings);
  constexpr std::int64_t kColumns = 128;  // per block
  const std::int64_t blocks = (check.n + kColumns - 1) / kColumns;
  const reference::whole_rows whole = reference::draw_rows(check, key);
  auto wrong = for_rows<std::array<std::int64_t, reference::kWholeRows>>(blocks);
  for_each_row(blocks, check.k * kColumns, [&](std::int64_t block) {
    const std::int64_t first = block * kColumns;
    wrong[std::size_t(block)] =
        wrong_elements_of(check, whole, first, std::min(kColumns, check.n - first), buffer);
  });
  for (std::size_t r = 0; r < whole.size(); ++r)
    for (const auto& of_block : wrong) {
      if (of_block[r] > 0 && findings.row < 0) findings.row = whole[r];
      findings.wrong_elements += of_block[r];
    }
  return findings;
}

}  // namespace
}  // namespace kzoo::devices

// Defined if libasan is loaded into the process: checks/sanitizers.cpp.
extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void*, std::size_t);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void*, std::size_t);
}

namespace kzoo::devices {
namespace {

// Memory of this process alone, with protected pages around an allocation where possible.
class own_memory final : public host_memory {
 public:
  void* allocate(std::size_t bytes, const surroundings& around) override {
    void* guarded =
        around.bytes == 0 ? nullptr : allocate_guarded(bytes, around.bytes, around.name);
    if (guarded != nullptr) return guarded;
    constexpr std::size_t kAlignment = 256;
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = rounded < bytes ? nullptr : std::aligned_alloc(kAlignment, rounded);
    if (memory == nullptr) throw failure(fmt::format("cannot allocate {} bytes", bytes));
    return memory;
  }
  void release(void* memory) override {
    if (!release_guarded(memory)) std::free(memory);
  }
  void set_read_only(void* memory, bool read_only) override {
    devices::set_read_only(memory, read_only);
  }
  std::optional<std::int64_t> take_noted_write(const void* memory) override {
    return devices::take_noted_write(memory);
  }
};

std::size_t bytes_of(const data::matrix& x) {
  return static_cast<std::size_t>(data::word_count(x) * data::element_bytes(x.type));
}

// Writes data::word() of each index, without a division for each.
void fill_words(void* buffer, const data::matrix& x) {
  const auto poison = [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i)
      put_word(buffer, x, i, data::poison_bits(x.type, data::hash(x.key, i)));
  };
  poison(0, data::kRedzone);
  for_each_row(data::all_rows(x), x.ld, [&](std::int64_t row) {
    const std::int64_t first = data::index_of(x, row, 0);
    const std::int64_t inside = x.inside == data::content::poison ? 0 : x.cols;
    for (std::int64_t i = first; i < first + inside; ++i)
      put_word(buffer, x, i, data::element_in(x, row, i));
    poison(first + inside, data::row_end(x, row));
  });
  poison(data::word_count(x) - data::kRedzone, data::word_count(x));
}

// The words of the matrices that were last asked for. Most are asked for again: to fill a buffer
// once more, and to find what a kernel changed in it.
class generated_words {
 public:
  // Valid until the next call; null if the matrix is too large to be kept.
  const std::byte* words_of(const data::matrix& x) {
    const std::size_t bytes = bytes_of(x);
    if (bytes > kMostBytes) return nullptr;
    const auto known = std::ranges::find(kept_, x, &kept::of);
    if (known != kept_.end()) {
      kept_.splice(kept_.begin(), kept_, known);
      return kept_.front().words.get();
    }
    while (bytes_ + bytes > kMostBytes) {
      bytes_ -= bytes_of(kept_.back().of);
      kept_.pop_back();
    }
    auto words = std::make_unique_for_overwrite<std::byte[]>(bytes);
    fill_words(words.get(), x);
    kept_.push_front({x, std::move(words)});
    bytes_ += bytes;
    return kept_.front().words.get();
  }

 private:
  static constexpr std::size_t kMostBytes = 8 << 20;
  struct kept {
    data::matrix of;
    std::unique_ptr<std::byte[]> words;
  };
  std::list<kept> kept_;  // the last one that was asked for is the first
  std::size_t bytes_ = 0;
};

// Kernels run synchronously when they are called, so there is no stream, nothing to wait for, and
// the host's clock times all of the work. Caches stay as the previous run left them.
class cpu_backend final : public backend {
 public:
  explicit cpu_backend(host_memory* memory) : memory_(memory == nullptr ? own_ : *memory) {}

  void* allocate(std::size_t bytes, const surroundings& around) override {
    return memory_.allocate(bytes, around);
  }
  void release(void* memory) override { memory_.release(memory); }
  bool faults_around() const override { return true; }

  void fill(void* buffer, const data::matrix& x) override {
    const std::byte* words = generated_.words_of(x);
    if (words == nullptr)
      fill_words(buffer, x);
    else
      std::memcpy(buffer, words, bytes_of(x));
  }

  void fill_row(void* buffer, const data::matrix& x, std::int64_t row) override {
    for (std::int64_t col = 0; col < x.cols; ++col)
      fill_word(buffer, x, data::index_of(x, row, col));
  }

  std::vector<data::changes> find_changes(std::span<const filled_buffer> buffers) override {
    std::vector<data::changes> all;
    for (const filled_buffer& each : buffers) all.push_back(changes_of(each));
    return all;
  }

  std::optional<std::int64_t> take_noted_write(const void* memory) override {
    return memory_.take_noted_write(memory);
  }

  data::reading read(const void* buffer, const data::matrix& x) override {
    return read_all(buffer, x);
  }
  reference::product_findings judge(const void* buffer, const reference::product_check& expected,
                                    std::uint64_t key) override {
    return judge_product(buffer, expected, key);
  }

  void mark_redzones(const void* buffer, const data::matrix& x, bool out_of_bounds) override {
    const auto set = out_of_bounds ? __asan_poison_memory_region : __asan_unpoison_memory_region;
    if (set == nullptr) return;
    const auto element = static_cast<std::size_t>(data::element_bytes(x.type));
    const std::size_t redzone = data::kRedzone * element;
    const auto* bytes = static_cast<const char*>(buffer);
    set(bytes, redzone);
    set(bytes + static_cast<std::size_t>(data::word_count(x)) * element - redzone, redzone);
  }

  void copy_to_host(void* host, const void* memory, std::size_t bytes) override {
    std::memcpy(host, memory, bytes);
  }
  void copy_to_device(void* memory, const void* host, std::size_t bytes) override {
    std::memcpy(memory, host, bytes);
  }

  void* stream() override { return nullptr; }
  std::optional<std::string> pending_error() override { return std::nullopt; }
  double longest_pause_ms() override { return 0; }
  std::string restore_limits() override { return {}; }
  std::int64_t free_memory() override { return std::numeric_limits<std::int64_t>::max(); }
  void synchronize() override {}

  finished_run run(const run_steps& steps, start from, other_streams) override {
    if (from == start::hot) steps.call();
    for (const filled_buffer& each : steps.numbers()) fill(each.words, each.spec);
    const reference::product_check expected = steps.expected();
    for (void* input : steps.inputs) memory_.set_read_only(input, true);
    const auto begin = std::chrono::steady_clock::now();
    steps.call();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    for (void* input : steps.inputs) memory_.set_read_only(input, false);
    return {true, took.count(), 0, judge(steps.output, expected, random_key())};
  }
  bool cold_cache() const override { return false; }

  // Each run has new numbers: nothing is enqueued, so batches would save nothing.
  repeated_runs repeat(const run_steps& steps, double seconds) override {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    repeated_runs all;
    do {
      const finished_run one = run(steps, start::cold, other_streams::counted);
      ++all.count;
      all.ms += one.ms;
      all.found = one.found;
    } while (all.found.right() &&
             std::chrono::duration<double>(clock::now() - begin).count() < seconds);
    return all;
  }

  void profile(const std::function<void()>& enqueue) override { enqueue(); }

 private:
  data::changes changes_of(const filled_buffer& buffer) {
    const data::matrix& x = buffer.spec;
    const std::byte* words = generated_.words_of(x);
    if (words != nullptr && std::memcmp(buffer.words, words, bytes_of(x)) == 0) return {};
    std::vector<data::changes> parts(blocks(x));
    for_each_word(x, [&](std::int64_t i, std::int64_t block) {
      const bool inside = data::is_inside(x, i);
      if ((inside && buffer.elements_may_change) || !is_changed(buffer.words, x, i)) return;
      data::changes& found = parts[std::size_t(block)];
      std::int64_t& first = inside ? found.first_inside : found.first_outside;
      if ((inside ? found.inside : found.outside)++ == 0) first = i;
    });
    data::changes all;
    for (const data::changes& part : parts) {
      if (all.inside == 0) all.first_inside = part.first_inside;
      if (all.outside == 0) all.first_outside = part.first_outside;
      all.inside += part.inside;
      all.outside += part.outside;
    }
    return all;
  }

  own_memory own_;
  host_memory& memory_;
  generated_words generated_;

  static constexpr std::int64_t kWordsPerBlock = 1 << 16;
  static std::size_t blocks(const data::matrix& x) {
    return static_cast<std::size_t>((data::word_count(x) + kWordsPerBlock - 1) / kWordsPerBlock);
  }
  // Calls body(index, block) for each word, on all threads; the words of one block in order.
  template <class Body>
  static void for_each_word(const data::matrix& x, const Body& body) {
    for_each_block(static_cast<std::int64_t>(blocks(x)), [&](std::int64_t block) {
      const std::int64_t end = std::min(data::word_count(x), (block + 1) * kWordsPerBlock);
      for (std::int64_t i = block * kWordsPerBlock; i < end; ++i) body(i, block);
    });
  }
};

}  // namespace

std::unique_ptr<backend> open_cpu(host_memory* memory) {
  return std::make_unique<cpu_backend>(memory);
}

}  // namespace kzoo::devices
