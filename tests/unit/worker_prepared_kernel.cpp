// A worker's samples on a device that tells its clock.
#include "support/catch.hpp"
#include "worker/prepared_kernel.hpp"

#include <array>
#include <cmath>
#include <deque>

using namespace kzoo;

namespace {

// The cpu, with a clock for each timed run; the last one stays.
class clocked final : public devices::backend {
 public:
  explicit clocked(std::deque<double> clocks) : clocks_(std::move(clocks)) {}

  devices::finished_run run(const devices::run_steps& steps, devices::start from) override {
    devices::finished_run done = cpu_->run(steps, from);
    if (calls_it_right) done.found = {.c = {.digest = done.found.c.digest, .survey = {}}};
    done.sm_mhz = clocks_.front();
    if (clocks_.size() > 1) clocks_.pop_front();
    return done;
  }

  void* allocate(std::size_t bytes, const devices::surroundings& around) override {
    return cpu_->allocate(bytes, around);
  }
  bool faults_around() const override { return true; }
  void release(void* memory) override { cpu_->release(memory); }
  void fill(void* to, const data::matrix& x) override { cpu_->fill(to, x); }
  void fill_row(void* to, const data::matrix& x, std::int64_t row) override {
    cpu_->fill_row(to, x, row);
  }
  std::vector<data::changes> find_changes(
      std::span<const devices::filled_buffer> buffers) override {
    return cpu_->find_changes(buffers);
  }
  std::int64_t take_noted_write(const void* memory) override {
    return cpu_->take_noted_write(memory);
  }
  data::reading read(const void* of, const data::matrix& x) override {
    data::reading all = cpu_->read(of, x);
    if (c_changes_by_itself) all.digest = ++digests_;
    return all;
  }
  bool c_changes_by_itself = false, calls_it_right = true;
  reference::product_findings judge(const void* of, const reference::product_check& expected,
                                    std::uint64_t key) override {
    return cpu_->judge(of, expected, key);
  }
  void mark_redzones(const void*, const data::matrix&, bool) override {}
  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    cpu_->copy_to_host(to, from, bytes);
  }
  void copy_to_device(void* to, const void* from, std::size_t bytes) override {
    cpu_->copy_to_device(to, from, bytes);
  }
  void* stream() override { return nullptr; }
  std::string pending_error() override { return {}; }
  double longest_pause_ms() override { return 0; }
  std::string restore_limits() override { return {}; }
  std::int64_t free_memory() override { return 0; }
  void synchronize() override {}
  bool cold_cache() const override { return false; }
  devices::repeated_runs repeat(const devices::run_steps& steps, double seconds) override {
    return cpu_->repeat(steps, seconds);
  }
  void profile(const std::function<void()>& enqueue) override { enqueue(); }

 private:
  std::unique_ptr<devices::backend> cpu_ = devices::open_cpu();
  std::deque<double> clocks_;
  std::uint64_t digests_ = 0;
};

// Writes nothing, so that C stays as it is.
kzoo_variant idle_variant() {
  kzoo_variant v{};
  v.struct_size = sizeof v;
  v.workspace_bytes = [](const kzoo_variant*, const kzoo_problem*, const kzoo_device*) {
    return std::uint64_t{0};
  };
  v.create = [](const kzoo_variant*, const kzoo_problem*, const kzoo_device*, void**, kzoo_text*) {
    return kzoo_status{KZOO_OK};
  };
  v.run = [](const kzoo_variant*, void*, const kzoo_arguments*, kzoo_text*) {
    return kzoo_status{KZOO_OK};
  };
  v.destroy = [](const kzoo_variant*, void*) {};
  return v;
}

worker::sample_report sampled(std::deque<double> clocks, worker::sample_request how,
                              bool calls_it_right = true) {
  clocked backend(std::move(clocks));
  backend.calls_it_right = calls_it_right;
  const results::device device = devices::find("cpu");
  process::shared_memory output;
  worker::prepared_kernel::history history;
  worker::prepared_kernel bench(backend, device, output, history);
  const kzoo_variant variant = idle_variant();
  bench.prepare(variant, problem{4, 4, 4}, KZOO_COMPUTE_FP32);
  how.samples = 5;
  how.max_seconds = 100;
  return bench.sample(how);
}

std::vector<double> clocks_of(std::deque<double> clocks, double least_mhz) {
  worker::sample_request how;
  how.least_mhz = least_mhz;
  return sampled(std::move(clocks), how).sm_mhz;
}

}  // namespace

TEST_CASE("a worker ends its samples at a low clock", "[workers]") {
  CHECK(clocks_of({0, 1900, 1400, 1900}, 1500) == std::vector<double>{1900, 1400});
  CHECK(clocks_of({0, 1900, 1400, 1900}, 0) == std::vector<double>{1900, 1400, 1900, 1900, 1900});
  // A clock that is not known is not low.
  CHECK(clocks_of({0}, 1500) == std::vector<double>(5, 0.0));
}

TEST_CASE("a worker ends its samples at a wrong result", "[workers]") {
  const worker::sample_report report = sampled({0}, {}, false);
  CHECK(report.samples_ms.size() == 1);
  CHECK_FALSE(report.judged.right);
  CHECK(sampled({0}, {}).judged.right);
}

TEST_CASE("each sample has other numbers", "[workers]") {
  CHECK(sampled({0}, {}).judged.seed != sampled({0}, {}).judged.seed);
}

TEST_CASE("a result that changes after its run is seen to", "[workers]") {
  for (const bool changes : {false, true}) {
    clocked backend({0});
    backend.c_changes_by_itself = changes;
    const results::device device = devices::find("cpu");
    process::shared_memory output;
    worker::prepared_kernel::history history;
    worker::prepared_kernel bench(backend, device, output, history);
    const kzoo_variant variant = idle_variant();
    bench.prepare(variant, problem{4, 4, 4}, KZOO_COMPUTE_FP32);
    worker::run_request nothing_copied;
    nothing_copied.output.wanted = false;
    CHECK(bench.run(nothing_copied).unfinished == changes);
  }
}

namespace {

// 4 x 4 x 4 with a bias, of f32. `kKeeps`: the bias of before, for as long as the magnitude of A's
// first element stays the same, as it does between runs without pauses.
template <bool kKeeps>
kzoo_status add_bias(const kzoo_variant*, void*, const kzoo_arguments* arguments, kzoo_text*) {
  static std::array<float, 4> bias;
  static float first = 0;
  const auto* a = static_cast<const float*>(arguments->a);
  const auto* b = static_cast<const float*>(arguments->b);
  auto* c = static_cast<float*>(arguments->c);
  if (!kKeeps || std::abs(a[0]) != first)
    std::copy_n(static_cast<const float*>(arguments->operands[0]), 4, bias.begin());
  first = std::abs(a[0]);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      float sum = bias[j];
      for (int k = 0; k < 4; ++k) sum += a[4 * i + k] * b[4 * k + j];
      c[4 * i + j] = sum;
    }
  return KZOO_OK;
}

}  // namespace

TEST_CASE("between runs without pauses operands change as A and B do", "[workers]") {
  problem p{4, 4, 4};
  p.epilogue = {{stage_kind::bias}};
  for (const bool keeps : {false, true}) {
    const std::unique_ptr<devices::backend> cpu = devices::open_cpu();
    const results::device device = devices::find("cpu");
    process::shared_memory output;
    worker::prepared_kernel::history history;
    worker::prepared_kernel bench(*cpu, device, output, history);
    kzoo_variant variant = idle_variant();
    variant.run = keeps ? add_bias<true> : add_bias<false>;
    bench.prepare(variant, p, KZOO_COMPUTE_FP32);
    CHECK(bench.sample({}).judged.right);  // A is new each time
    CHECK(bench.sustain({.seconds = 0.5}).judged.right != keeps);
  }
}
