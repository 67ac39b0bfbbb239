// Declared in devices/backend.hpp.

#include "devices/backend.hpp"
#include "devices/cpu_judge.hpp"
#include "devices/element_loops.hpp"
#include "devices/guarded_memory.hpp"
#include "devices/random_key.hpp"
#include "devices/repeat_in_batches.hpp"
#include "os/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <vector>

// Defined if libasan is loaded into the process: checks/sanitizers.hpp.
extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void*, std::size_t);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void*, std::size_t);
}

namespace kzoo::devices {
namespace {

// This thread's signals, for as long as it lives. One that a fault raises meanwhile ends the
// process.
class signals_blocked {
 public:
  signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

// Some elements of a matrix, chosen at random, as they are when this is made.
class glance {
 public:
  glance(const void* words, const data::matrix& x, std::mt19937_64& random)
      : bytes_(static_cast<const char*>(words)),
        element_(static_cast<std::size_t>(data::element_bytes(x.type))) {
    constexpr std::size_t kElements = 256;
    seen_.reserve(kElements);
    std::uniform_int_distribution<std::int64_t> row(0, data::all_rows(x) - 1), col(0, x.cols - 1);
    for (std::size_t i = 0; i < kElements; ++i) {
      const auto index = static_cast<std::size_t>(data::index_of(x, row(random), col(random)));
      const std::size_t at = index * element_;
      seen_.push_back({at, read(at)});
    }
  }
  int changed() const {
    return static_cast<int>(
        std::ranges::count_if(seen_, [&](const element& e) { return read(e.at) != e.bits; }));
  }

 private:
  struct element {
    std::size_t at;  // in bytes
    std::uint64_t bits;
  };
  std::uint64_t read(std::size_t at) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes_ + at, element_);
    return bits;
  }

  const char* bytes_;
  std::size_t element_;
  std::vector<element> seen_;
};

// Kernels run synchronously when they are called, so there is no stream, nothing to wait for, and
// the host's clock times all of the work. Caches stay as the previous run left them.
class cpu_backend final : public backend {
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
  bool faults_around() const override { return true; }

  void fill(void* buffer, const data::matrix& x) override {
    for_each_word(x, [&](std::int64_t i, std::int64_t) { fill_word(buffer, x, i); });
  }

  void fill_row(void* buffer, const data::matrix& x, std::int64_t row) override {
    for (std::int64_t col = 0; col < x.cols; ++col)
      fill_word(buffer, x, data::index_of(x, row, col));
  }

  std::vector<data::changes> find_changes(std::span<const filled_buffer> buffers) override {
    std::vector<data::changes> all;
    for (const auto& [words, spec] : buffers) all.push_back(changes_of(words, spec));
    return all;
  }

  std::int64_t take_noted_write(const void* memory) override {
    return devices::take_noted_write(memory);
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
  std::string pending_error() override { return {}; }
  double longest_pause_ms() override { return 0; }
  std::string restore_limits() override { return {}; }
  std::int64_t free_memory() override { return std::numeric_limits<std::int64_t>::max(); }
  void synchronize() override {}

  finished_run run(const run_steps& steps, start from) override {
    if (from == start::hot) steps.call();
    steps.fill();
    const reference::product_check expected = steps.expected();
    // Without signals the kernel works nowhere but in its call: not in a handler that the last
    // rows, or the reading of the clock, reach by a trap, nor in one that is reached before C is
    // judged.
    std::optional<signals_blocked> no_signals(std::in_place);
    steps.fill_late();
    for (const void* input : steps.inputs) set_read_only(input, true);
    const auto start = std::chrono::steady_clock::now();
    no_signals.reset();
    steps.call();
    touch_pages(steps.output, expected.of.c);
    no_signals.emplace();
    const double ms = milliseconds_since(start);
    const glance at_once(steps.output, expected.of.c, random_);
    for (const void* input : steps.inputs) set_read_only(input, false);
    const reference::product_findings found = judge(steps.output, expected, random_key());
    return {ms, 0, found, at_once.changed()};
  }
  bool cold_cache() const override { return false; }

  repeated_runs repeat(const run_steps& steps, double seconds) override {
    return repeat_in_batches(*this, steps, seconds, [&](std::int64_t batch) {
      double ms = 0;
      for (std::int64_t i = 0; i < batch; ++i) {
        if (i > 0) steps.fill_between();
        const auto start = std::chrono::steady_clock::now();
        steps.call();
        ms += milliseconds_since(start);
      }
      return ms;
    });
  }

  void profile(const std::function<void()>& enqueue) override { enqueue(); }

 private:
  static data::changes changes_of(const void* buffer, const data::matrix& x) {
    std::vector<data::changes> parts(blocks(x));
    for_each_word(x, [&](std::int64_t i, std::int64_t block) {
      if (!is_changed(buffer, x, i)) return;
      data::changes& found = parts[std::size_t(block)];
      const bool inside = data::is_inside(x, i);
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

  // So that a result which is computed only when it is read is computed now.
  static void touch_pages(const void* words, const data::matrix& x) {
    constexpr std::int64_t kPage = 4096;
    const auto* const bytes = static_cast<const volatile char*>(words);
    const std::int64_t end = data::word_count(x) * data::element_bytes(x.type);
    for (std::int64_t at = 0; at < end; at += kPage) static_cast<void>(bytes[at]);
    static_cast<void>(bytes[end - 1]);
  }

  static double milliseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  }

  std::mt19937_64 random_{std::random_device{}()};
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

std::unique_ptr<backend> open_cpu() { return std::make_unique<cpu_backend>(); }

}  // namespace kzoo::devices
