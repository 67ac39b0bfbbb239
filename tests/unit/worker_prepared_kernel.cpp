// A worker's samples on a device that tells its clock.
#include "devices/backend.hpp"
#include "support/catch.hpp"
#include "worker/plugin.hpp"
#include "worker/prepared_kernel.hpp"

#include <array>
#include <cmath>
#include <deque>
#include <functional>
#include <set>

using namespace kzoo;

namespace {

// The cpu, with a clock for each timed run; the last one stays.
class clocked final : public devices::backend {
 public:
  explicit clocked(std::deque<double> clocks) : clocks_(std::move(clocks)) {}

  devices::finished_run run(const devices::run_steps& steps, devices::start from,
                            devices::other_streams others) override {
    devices::run_steps noted = steps;
    noted.numbers = [&] {
      std::vector<devices::filled_buffer> all = steps.numbers();
      keys.push_back(all.front().spec.key);
      return all;
    };
    devices::finished_run done = cpu_->run(noted, from, others);
    done.alone = keys.size() > others_stay_for;
    if (calls_it_right) done.found = {.c = {.digest = done.found.c.digest, .survey = {}}};
    done.sm_mhz = clocks_.front();
    if (clocks_.size() > 1) clocks_.pop_front();
    return done;
  }

  std::vector<std::uint64_t> keys;  // of A, in the runs
  std::size_t others_stay_for = 0;  // so many of them

  void* allocate(std::size_t bytes, const devices::surroundings& around) override {
    return allocated.emplace_back(cpu_->allocate(bytes, around));
  }
  std::vector<void*> allocated;  // in this order, freed or not
  bool faults = true;
  bool faults_around() const override { return faults; }
  void release(void* memory) override { cpu_->release(memory); }
  void fill(void* to, const data::matrix& x) override { cpu_->fill(to, x); }
  void fill_row(void* to, const data::matrix& x, std::int64_t row) override {
    cpu_->fill_row(to, x, row);
  }
  std::vector<data::changes> find_changes(
      std::span<const devices::filled_buffer> buffers) override {
    return cpu_->find_changes(buffers);
  }
  std::optional<std::int64_t> take_noted_write(const void* memory) override {
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
  std::optional<std::string> pending_error() override { return std::nullopt; }
  double longest_pause_ms() override { return 0; }
  std::string restore_limits() override { return {}; }
  std::int64_t free_memory() override { return 0; }
  void synchronize() override {}
  bool cold_cache() const override { return false; }
  devices::repeated_runs repeat(const devices::run_steps& steps, double seconds) override {
    return devices::repeat_in_batches(*this, steps, seconds, [&](std::int64_t batch) {
      for (const devices::filled_buffer& each : steps.numbers()) fill(each.words, each.spec);
      for (std::int64_t i = 0; i < batch; ++i) {
        if (i > 0) steps.fill_between();
        steps.call();
      }
      return double(batch);
    });
  }
  void profile(const std::function<void()>& enqueue) override { enqueue(); }

 private:
  std::unique_ptr<devices::backend> cpu_ = devices::open_cpu();
  std::deque<double> clocks_;
  std::uint64_t digests_ = 0;
};

// Writes nothing, so that C stays as it is, unless a test has it do something.
class made_plugin final : public worker::plugin {
 public:
  std::function<void(const worker::placement&)> kernel = [](const worker::placement&) {};
  bool has_gone_on = false;

  results::plugin_description open(const std::filesystem::path&) override { return {}; }
  void ask_support(std::uint32_t, const problem&, const kzoo_device&) override {}
  std::uint64_t workspace_bytes(std::uint32_t, const problem&, const kzoo_device&) override {
    return 0;
  }
  void create(int, std::uint32_t, const problem&, const kzoo_device&) override {}
  void place(int, const worker::placement& where, void*) override { where_ = where; }
  void run(int) override { kernel(where_); }
  std::vector<results::launch> launches(int) override { return {}; }
  void destroy(int) override {}
  void go_on() override { has_gone_on = true; }
  std::int64_t heap_in_use() override { return 0; }
  std::vector<std::string> product_libraries() override { return {}; }

 private:
  worker::placement where_;
};

// A kernel on a backend, in a process of its own as it were.
struct bench {
  explicit bench(devices::backend& backend)
      : prepared(plugin, 0, backend, device, output, history) {}

  made_plugin plugin;
  results::device device = devices::find("cpu");
  process::shared_memory output;
  worker::prepared_kernel::history history;
  worker::prepared_kernel prepared;
};

worker::sample_report sampled(std::deque<double> clocks, worker::sample_request how,
                              bool calls_it_right = true) {
  clocked backend(std::move(clocks));
  backend.calls_it_right = calls_it_right;
  bench on(backend);
  on.prepared.prepare(0, problem{4, 4, 4}, KZOO_COMPUTE_FP32);
  how.samples = 5;
  how.max_seconds = 100;
  return on.prepared.sample(how);
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

TEST_CASE("a run that did not have the device to itself does not count", "[workers]") {
  for (const std::size_t others : {0, 1, 4, 5}) {
    clocked backend({0});
    backend.others_stay_for = others;
    bench on(backend);
    on.prepared.prepare(0, problem{4, 4, 4}, KZOO_COMPUTE_FP32);
    worker::sample_request how;
    how.samples = 3;
    how.warmup = 0;
    how.max_seconds = 100;
    if (others == 5) {
      try {
        on.prepared.sample(how);
        FAIL("a time was taken");
      } catch (const worker::refusal& refused) {
        CHECK(refused.status == std::string("wrong"));
        CHECK(refused.reason ==
              "does not work on the stream that it is given: in 5 runs of 5 a kernel of another "
              "stream was on the device, and stayed, when the numbers of the run came");
      }
      continue;
    }
    CHECK(on.prepared.sample(how).samples_ms.size() == 3);
    // One of them is the first run in the process; each has new numbers.
    CHECK(backend.keys.size() == 4 + others);
    CHECK(std::set(backend.keys.begin(), backend.keys.end()).size() == backend.keys.size());
  }
}

TEST_CASE("a result that changes after its run is seen to", "[workers]") {
  for (const bool changes : {false, true}) {
    clocked backend({0});
    backend.c_changes_by_itself = changes;
    bench on(backend);
    on.prepared.prepare(0, problem{4, 4, 4}, KZOO_COMPUTE_FP32);
    worker::run_request nothing_copied;
    nothing_copied.output.wanted = false;
    CHECK(on.prepared.run(nothing_copied).unfinished == changes);
  }
}

namespace {

// 4 x 4 x 4 with a bias, of f32. `keeps`: the bias of before, for as long as the magnitude of A's
// first element stays the same, as it does between runs without pauses.
auto add_bias(bool keeps) {
  return [keeps, bias = std::array<float, 4>(), first = 0.0F](const worker::placement& at) mutable {
    const auto* a = static_cast<const float*>(at.inputs[0]);
    const auto* b = static_cast<const float*>(at.inputs[1]);
    auto* c = static_cast<float*>(at.c);
    if (!keeps || std::abs(a[0]) != first)
      std::copy_n(static_cast<const float*>(at.inputs[2]), 4, bias.begin());
    first = std::abs(a[0]);
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        float sum = bias[j];
        for (int k = 0; k < 4; ++k) sum += a[4 * i + k] * b[4 * k + j];
        c[4 * i + j] = sum;
      }
  };
}

}  // namespace

TEST_CASE("between runs without pauses operands change as A and B do", "[workers]") {
  problem p{4, 4, 4};
  p.epilogue = {{stage_kind::bias}};
  for (const bool keeps : {false, true}) {
    clocked as_a_gpu({0});
    as_a_gpu.calls_it_right = false;
    bench on(as_a_gpu);
    on.plugin.kernel = add_bias(keeps);
    on.prepared.prepare(0, p, KZOO_COMPUTE_FP32);
    CHECK(on.prepared.sample({}).judged.right);  // A is new each time
    CHECK(on.prepared.sustain({.seconds = 0.5}).judged.right != keeps);
  }
}

TEST_CASE("numbers are written once everything is ready for the call", "[workers]") {
  const std::unique_ptr<devices::backend> cpu = devices::open_cpu();
  bench on(*cpu);
  std::vector<float> seen;
  on.plugin.kernel = [&](const worker::placement& at) {
    seen.push_back(*static_cast<const float*>(at.inputs[0]));
  };
  on.prepared.prepare(0, problem{4, 4, 4}, KZOO_COMPUTE_FP32);
  worker::run_request nothing_copied;
  nothing_copied.output.wanted = false;
  on.prepared.run(nothing_copied);
  nothing_copied.fresh = true;
  on.prepared.run(nothing_copied);
  CHECK(seen[0] != seen[1]);
  CHECK(on.plugin.has_gone_on);  // its C was not written
}

TEST_CASE("what is written between matrices is seen, and they are not used again", "[workers]") {
  clocked as_a_gpu({0});
  as_a_gpu.faults = false;
  bench on(as_a_gpu);
  const problem p{4, 4, 4};
  on.plugin.kernel = [&](const worker::placement&) {
    constexpr std::size_t kSomewhere = 1000;
    static_cast<float*>(as_a_gpu.allocated.front())[kSomewhere] = 1;  // in the gap before A
  };
  worker::run_request nothing_copied;
  nothing_copied.output.wanted = false;
  on.prepared.prepare(0, p, KZOO_COMPUTE_FP32);
  CHECK(on.prepared.run(nothing_copied).changed.between == 1);
  on.plugin.kernel = [](const worker::placement&) {};
  on.prepared.prepare(0, p, KZOO_COMPUTE_FP32);
  CHECK(on.prepared.run(nothing_copied).changed.between == 0);
}
