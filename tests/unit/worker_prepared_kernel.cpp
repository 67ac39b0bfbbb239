// A worker's samples on a device that tells its clock.
#include "support/catch.hpp"
#include "worker/prepared_kernel.hpp"

#include <chrono>
#include <deque>
#include <thread>

using namespace kzoo;

namespace {

// The cpu, with a clock for each timed run; the last one stays.
class clocked final : public devices::backend {
 public:
  explicit clocked(std::deque<double> clocks) : clocks_(std::move(clocks)) {}

  devices::sample time_ms(const std::function<void()>& enqueue) override {
    const devices::sample s{cpu_->time_ms(enqueue).ms, clocks_.front()};
    if (clocks_.size() > 1) clocks_.pop_front();
    return s;
  }

  void* allocate(std::size_t bytes) override { return cpu_->allocate(bytes); }
  void release(void* memory) override { cpu_->release(memory); }
  void fill(void* to, const data::matrix& x) override { cpu_->fill(to, x); }
  data::changes find_changes(const void* in, const data::matrix& x) override {
    return cpu_->find_changes(in, x);
  }
  data::survey survey(const void* of, const data::matrix& x) override {
    return cpu_->survey(of, x);
  }
  std::uint64_t digest(const void* of, const data::matrix& x) override {
    if (c_changes_by_itself) return ++digests_;
    return cpu_->digest(of, x);
  }
  bool c_changes_by_itself = false;
  std::vector<std::uint64_t> fold_rows(const void* of, const data::matrix& x,
                                       std::uint64_t key) override {
    return cpu_->fold_rows(of, x, key);
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
  void synchronize() override {}
  bool cold_cache() const override { return false; }
  void profile(const std::function<void()>& enqueue) override { enqueue(); }
  devices::sample time_hot_ms(const std::function<void()>& enqueue, int) override {
    return time_ms(enqueue);
  }
  std::optional<devices::clocks> compare_clocks(const std::function<void()>& enqueue) override {
    enqueue();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return devices::clocks{5, 4};
  }

 private:
  std::unique_ptr<devices::backend> cpu_ = devices::open_cpu();
  std::deque<double> clocks_;
  std::uint64_t digests_ = 0;
};

int runs = 0;  // of the variant

// Writes nothing, so that C stays as it is and every result is the same.
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
    ++runs;
    return kzoo_status{KZOO_OK};
  };
  v.destroy = [](const kzoo_variant*, void*) {};
  return v;
}

worker::sample_report sampled(std::deque<double> clocks, worker::sample_request how) {
  clocked backend(std::move(clocks));
  const results::device device = devices::find("cpu");
  process::shared_memory output;
  worker::prepared_kernel bench(backend, device, output);
  const kzoo_variant variant = idle_variant();
  bench.prepare(variant, problem{4, 4, 4});
  how.samples = 5;
  how.max_seconds = 100;
  how.output.wanted = false;
  how.any_output = true;
  return bench.sample(how);
}

std::vector<double> clocks_of(std::deque<double> clocks, double least_mhz) {
  worker::sample_request how;
  how.least_mhz = least_mhz;
  return sampled(std::move(clocks), how).sm_mhz;
}

}  // namespace

TEST_CASE("a worker ends its samples at a low clock", "[workers]") {
  CHECK(clocks_of({1900, 1400, 1900}, 1500) == std::vector<double>{1900, 1400});
  CHECK(clocks_of({1900, 1400, 1900}, 0) == std::vector<double>{1900, 1400, 1900, 1900, 1900});
  // A clock that is not known is not low.
  CHECK(clocks_of({0}, 1500) == std::vector<double>(5, 0.0));
}

TEST_CASE("the runs that compare two clocks are the warm-up where they are long enough",
          "[workers]") {
  const auto runs_with = [](bool compare) {
    worker::sample_request how;
    how.warmup = 3;
    how.compare_clocks = compare;
    runs = 0;
    const worker::sample_report report = sampled({0}, how);
    CHECK(report.host_ms == (compare ? 5 : 0));
    CHECK(report.stream_ms == (compare ? 4 : 0));
    return runs;
  };
  // The first run of all loads the kernel's code.
  CHECK(runs_with(false) > 1 + 5);
  CHECK(runs_with(true) == 1 + 1 + 5);
}

TEST_CASE("a result that changes after its run is seen to", "[workers]") {
  for (const bool changes : {false, true}) {
    clocked backend({0});
    backend.c_changes_by_itself = changes;
    const results::device device = devices::find("cpu");
    process::shared_memory output;
    worker::prepared_kernel bench(backend, device, output);
    const kzoo_variant variant = idle_variant();
    bench.prepare(variant, problem{4, 4, 4});
    worker::output_request unseen;
    unseen.wanted = false;
    CHECK(bench.run(unseen).unfinished == changes);
  }
}
