// The GPU fills, reads and judges as the CPU does.
#include "devices/backend.hpp"
#include "devices/devices.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"
#include "unit/reference_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <tuple>

using namespace kzoo;
using namespace kzoo::samples;

namespace {

// Of what a judgement leaves to chance.
constexpr std::uint64_t kKey = 7;

// A buffer on a device.
class on_device {
 public:
  on_device(devices::backend& on, const data::matrix& x)
      : on_(on),
        bytes_(static_cast<std::size_t>(data::word_count(x)) * type_size(x.type)),
        memory_(on.allocate(bytes_)) {}
  ~on_device() { on_.release(memory_); }
  on_device(const on_device&) = delete;
  on_device& operator=(const on_device&) = delete;

  void* get() const { return memory_; }
  void put(std::span<const std::byte> bytes) { on_.copy_to_device(memory_, bytes.data(), bytes_); }
  std::vector<std::byte> words() const {
    std::vector<std::byte> all(bytes_);
    on_.copy_to_host(all.data(), memory_, bytes_);
    return all;
  }

 private:
  devices::backend& on_;
  std::size_t bytes_;
  void* memory_;
};

std::vector<problem> problems() {
  std::vector<problem> all;
  for (kzoo_type type : {KZOO_F32, KZOO_F64, KZOO_F16, KZOO_BF16, KZOO_I32}) {
    for (const layout given : kLayouts) {
      for (const auto& [m, n, k] : {std::array{1, 1, 1}, {37, 290, 1100}, {300, 1500, 70}}) {
        problem p = sized(m, n, k, type);
        p.layout = given;
        all.push_back(p);
        p.padding = 3;
        p.alpha = is_integer(p.dtype) ? -3 : -0.7;
        p.beta = is_integer(p.dtype) ? 2 : 1.3;
        p.data = is_integer(p.dtype) ? fill::full : fill::powers;
        if (!is_integer(p.dtype)) p.data.parameter = 3;
        all.push_back(p);
      }
      problem batch = sized(12, 20, 24, type);
      batch.batch = 5;
      batch.batch_padding = 3;
      batch.layout = given;
      all.push_back(batch);
    }
  }
  for (const fill what : {fill::integers, fill::probe, fill::lone, fill::lone_b}) {
    for (const kzoo_type type : {KZOO_F32, KZOO_F16, KZOO_F64}) {
      all.push_back(sized(40, 70, 300, type));
      all.back().layout = layout::tn;
      all.back().data = what;
      all.back().data.spread = type == KZOO_F16 ? 4 : 20;
      all.back().beta = 1;
    }
  }
  for (const char* stages : {"bias + relu", "row_scale + gelu + residual:f16", "clamp(-1, 1)"}) {
    all.push_back(sized(300, 290, 70));
    all.back().epilogue = epilogue_from_name(stages);
  }
  problem batch = sized(40, 70, 24);
  batch.batch = 3;
  batch.batch_padding = 5;
  batch.padding = 3;
  batch.epilogue = epilogue_from_name("row_scale + residual + bias");
  all.push_back(batch);
  for (const auto& [a, b] : {std::pair{"1x128", "128x128"}, {"1x128", "1x128"}, {"16x8", "4x32"}}) {
    all.push_back(sized(40, 290, 300, {KZOO_E4M3, KZOO_E4M3, KZOO_F32}));
    all.back().scale_block_a = *scale_block_from_name(a);
    all.back().scale_block_b = *scale_block_from_name(b);
  }
  for (const data::group_rows how : data::kGroupRows) {
    all.push_back(sized(300, 290, 70));
    all.back().layout = layout::nt;
    all.back().groups = 7;
    all.back().group_rows = how;
    all.back().beta = 1.3;
  }
  return all;
}

}  // namespace

TEST_CASE("a GPU fills matrices with the bits that the CPU fills them with", "[devices][.gpu]") {
  test::needs_gpu();
  const auto gpu = devices::open("cuda:0"), cpu = devices::open_cpu();
  for (const problem& p : problems()) {
    INFO(problem_name(p));
    const operands o = operands_of(p);
    std::vector<data::matrix> filled{o.a, o.b, o.c};
    for (const named_operand& operand : named_operands(p)) filled.push_back(operand.stored);
    for (data::matrix x : filled) {
      const on_device there(*gpu, x), here(*cpu, x);
      x.late_row = data::all_rows(x) / 2;
      gpu->fill(there.get(), x);
      cpu->fill(here.get(), x);
      REQUIRE(there.words() == here.words());
      x.late_row = -1;
      gpu->fill_row(there.get(), x, data::all_rows(x) / 2);
      cpu->fill(here.get(), x);
      REQUIRE(there.words() == here.words());
      REQUIRE(gpu->read(there.get(), x).digest == cpu->read(here.get(), x).digest);
    }
  }
}

TEST_CASE("a GPU finds the changed words that the CPU finds", "[devices][.gpu]") {
  test::needs_gpu();
  const auto gpu = devices::open("cuda:0"), cpu = devices::open_cpu();
  std::deque<on_device> there, here;
  std::vector<devices::filled_buffer> on_gpu, on_cpu;
  const auto add = [&](const data::matrix& x, bool elements_may_change) {
    on_gpu.push_back({there.emplace_back(*gpu, x).get(), x, elements_may_change});
    on_cpu.push_back({here.emplace_back(*cpu, x).get(), x, elements_may_change});
    gpu->fill(on_gpu.back().words, x);
    cpu->fill(on_cpu.back().words, x);
  };
  for (const problem& p : problems()) {
    const operands o = operands_of(p);
    for (const data::matrix& x : {data::matrix(o.a), data::matrix(o.b), o.c}) add(x, false);
  }
  // Single rows, as the memory around matrices and workspaces are.
  for (const std::int64_t cols : {1, 255, 4096, 4097, 1 << 20}) {
    const data::matrix row{KZOO_F32, data::content::poison, 1, cols, cols, 5};
    add(row, false);
    add(row, true);
  }
  const auto compare = [&] {
    const std::vector<data::changes> found = gpu->find_changes(on_gpu);
    const std::vector<data::changes> expected = cpu->find_changes(on_cpu);
    for (std::size_t i = 0; i < found.size(); ++i) {
      INFO("buffer " << i);
      REQUIRE(std::tuple(found[i].inside, found[i].outside, found[i].first_inside,
                         found[i].first_outside) ==
              std::tuple(expected[i].inside, expected[i].outside, expected[i].first_inside,
                         expected[i].first_outside));
    }
    return std::ranges::count_if(found, &data::changes::any);
  };
  CHECK(compare() == 0);
  for (std::size_t i = 0; i < there.size(); ++i) {
    std::vector<std::byte> words = here[i].words();
    // Three bytes: near the beginning, which is a redzone, in the middle, and the last.
    for (const std::size_t at : {std::size_t{3}, words.size() / 2 + 1, words.size() - 1})
      words[at] ^= std::byte{0x55};
    there[i].put(words);
    here[i].put(words);
  }
  CHECK(compare() == std::ssize(there));
}

TEST_CASE("a GPU writes the numbers of a run with the bits that the CPU fills matrices with",
          "[devices][.gpu]") {
  test::needs_gpu();
  const auto gpu = devices::open("cuda:0"), cpu = devices::open_cpu();
  for (const problem& p : problems()) {
    INFO(problem_name(p));
    const operands o = operands_of(p);
    std::vector<data::matrix> filled{o.a, o.b, o.c};
    for (const named_operand& operand : named_operands(p)) filled.push_back(operand.stored);
    std::deque<on_device> there;
    std::vector<devices::filled_buffer> next;
    for (const data::matrix& x : filled) next.push_back({there.emplace_back(*gpu, x).get(), x});
    const reference::product_check expected(p, usual_precision(p.dtype.a));
    for (const devices::start from :
         {devices::start::cold, devices::start::hot, devices::start::idle}) {
      for (on_device& x : there) x.put(std::vector<std::byte>(x.words().size()));
      const devices::finished_run run =
          gpu->run({[&] { return next; }, [] {}, [] {}, there[2].get(), [&] { return expected; }},
                   from, devices::other_streams::counted);
      CHECK(run.alone);
      for (std::size_t i = 0; i < filled.size(); ++i) {
        const on_device here(*cpu, filled[i]);
        cpu->fill(here.get(), filled[i]);
        REQUIRE(there[i].words() == here.words());
      }
    }
  }
}

TEST_CASE("a GPU judges results as the CPU does", "[devices][.gpu]") {
  test::needs_gpu();
  const auto gpu = devices::open("cuda:0"), cpu = devices::open_cpu();
  for (const problem& p : problems()) {
    INFO(problem_name(p));
    const reference::product_check expected(p, usual_precision(p.dtype.a));
    const buffer right = computed(p);
    buffer wrong = right, unwritten = right, outside = right;
    const std::int64_t row = p.all_rows() - 1;
    // Zeros: no rounding of C is allowed to a row whose sum has none.
    for (std::int64_t col = 0; col < p.n; ++col) wrong.put(row, col, 0);
    unwritten.unwrite(row, p.n - 1);
    outside.put_word(data::word_count(outside.matrix()) - 1, 0);
    on_device there(*gpu, right.matrix());
    for (const buffer& c : {right, wrong, unwritten, outside}) {
      there.put(c.bytes());
      const reference::product_findings found = gpu->judge(there.get(), expected, kKey);
      const reference::product_findings same = cpu->judge(c.bytes().data(), expected, kKey);
      CHECK(found.right() == same.right());
      CHECK(found.wrong_rows == same.wrong_rows);
      CHECK(found.wrong_elements == same.wrong_elements);
      CHECK((found.row < 0) == (same.row < 0));
      if (same.wrong_rows == 1) CHECK(found.row == same.row);
      CHECK(found.c.digest == same.c.digest);
      CHECK(found.c.survey.outside == same.c.survey.outside);
      CHECK(found.c.survey.unwritten == same.c.survey.unwritten);
      CHECK(found.c.survey.not_finite == same.c.survey.not_finite);
    }
  }
}

// docs/timing.md has its figures: kzoo_unit_tests "[cost]".
TEST_CASE("what a sample costs beside its kernel", "[devices][.cost]") {
  test::needs_gpu();
  const auto gpu = devices::open("cuda:0");
  const auto ms_of = [&](const std::function<void()>& work) {
    constexpr int kTimes = 7;
    std::vector<double> all;
    for (int i = 0; i < kTimes; ++i) {
      const auto start = std::chrono::steady_clock::now();
      work();
      gpu->synchronize();
      all.push_back(
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
              .count());
    }
    std::ranges::sort(all);
    return all[kTimes / 2];
  };
  fmt::print("{:>6} {:>5} {:>10} {:>10} {:>10} {:>10}\n", "n", "type", "fill A, B", "fill C",
             "judge", "find changes");
  for (const kzoo_type type : {KZOO_F32, KZOO_BF16}) {
    for (const std::int64_t n : {512, 1024, 2048, 4096, 8192, 16384}) {
      const problem p = sized(n, n, n, type);
      const operands o = operands_of(p);
      const on_device a(*gpu, o.a), b(*gpu, o.b), c(*gpu, o.c);
      const reference::product_check expected(p, usual_precision(type));
      gpu->judge(c.get(), expected, kKey);
      const double inputs = ms_of([&] {
        gpu->fill(a.get(), o.a);
        gpu->fill(b.get(), o.b);
      });
      const double poison = ms_of([&] { gpu->fill(c.get(), o.c); });
      const double judged = ms_of([&] { gpu->judge(c.get(), expected, kKey); });
      const std::array buffers{devices::filled_buffer{a.get(), o.a},
                               devices::filled_buffer{b.get(), o.b}};
      const double changes = ms_of([&] { gpu->find_changes(buffers); });
      fmt::print("{:>6} {:>5} {:>10.4f} {:>10.4f} {:>10.4f} {:>10.4f}\n", n, type_name(type),
                 inputs, poison, judged, changes);
    }
  }
}
