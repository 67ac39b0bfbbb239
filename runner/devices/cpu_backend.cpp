#include "devices/backend.hpp"
#include "devices/element_loops.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

namespace kzoo::devices {
namespace {

// Kernels run when they are called, so there is no stream, nothing to wait for, and a host clock
// sees all of it. The caches stay as the previous run left them.
class cpu_backend final : public backend {
 public:
  void* allocate(std::size_t bytes) override {
    constexpr std::size_t kAlignment = 256;
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = rounded < bytes ? nullptr : std::aligned_alloc(kAlignment, rounded);
    if (memory == nullptr) throw failure(fmt::format("cannot allocate {} bytes", bytes));
    return memory;
  }
  void release(void* memory) override { std::free(memory); }

  void fill(void* buffer, const data::matrix& x) override {
    for (std::int64_t i = 0; i < data::word_count(x); ++i) fill_word(buffer, x, i);
  }

  data::changes find_changes(const void* buffer, const data::matrix& x) override {
    data::changes found;
    for (std::int64_t i = 0; i < data::word_count(x); ++i) {
      if (!is_changed(buffer, x, i)) continue;
      const bool inside = data::is_inside(x, i);
      std::int64_t& first = inside ? found.first_inside : found.first_outside;
      if ((inside ? found.inside : found.outside)++ == 0) first = i;
    }
    return found;
  }

  std::uint64_t digest(const void* buffer, const data::matrix& x) override {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < data::word_count(x); ++i)
      sum += data::digest_term(word_at(buffer, x, i), i);
    return sum;
  }

  std::vector<std::uint64_t> fold_rows(const void* buffer, const data::matrix& x,
                                       std::uint64_t key) override {
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(x.rows));
    for (std::int64_t row = 0; row < x.rows; ++row) {
      for (std::int64_t col = 0; col < x.cols; ++col)
        sums[std::size_t(row)] += fold_term(buffer, x, key, row, col);
    }
    return sums;
  }

  void copy_to_host(void* host, const void* memory, std::size_t bytes) override {
    std::memcpy(host, memory, bytes);
  }

  void* stream() override { return nullptr; }
  std::string pending_error() override { return {}; }
  void synchronize() override {}

  double time_ms(const std::function<void()>& enqueue) override {
    const auto start = std::chrono::steady_clock::now();
    enqueue();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  }
  bool cold_cache() const override { return false; }
  std::optional<clocks> compare_clocks(const std::function<void()>&) override { return {}; }
};

}  // namespace

std::unique_ptr<backend> open_cpu() { return std::make_unique<cpu_backend>(); }

}  // namespace kzoo::devices
