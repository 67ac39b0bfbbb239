// A worker's samples on a device that tells its clock.
#include "support/catch.hpp"
#include "worker/prepared_kernel.hpp"

#include <deque>

using namespace kzoo;

namespace {

// The cpu, with a clock for each timed run; the last one stays.
class clocked final : public devices::backend {
 public:
  explicit clocked(std::deque<double> clocks) : clocks_(std::move(clocks)) {}

  devices::finished_run run(const devices::run_steps& steps, devices::start from) override {
    devices::finished_run done = cpu_->run(steps, from);
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
  void negate(void* in, const data::matrix& x, const data::negation& to) override {
    cpu_->negate(in, x, to);
  }
  std::vector<data::changes> find_changes(
      std::span<const devices::filled_buffer> buffers) override {
    return cpu_->find_changes(buffers);
  }
  std::int64_t take_noted_write(const void* memory) override {
    return cpu_->take_noted_write(memory);
  }
  data::survey survey(const void* of, const data::matrix& x) override {
    return cpu_->survey(of, x);
  }
  std::uint64_t digest(const void* of, const data::matrix& x) override {
    if (c_changes_by_itself) return ++digests_;
    return cpu_->digest(of, x);
  }
  bool c_changes_by_itself = false;
  std::vector<data::row_sums> sum_rows(const void* of, const data::matrix& x,
                                       std::uint64_t key) override {
    return cpu_->sum_rows(of, x, key);
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
  CHECK(clocks_of({0, 1900, 1400, 1900}, 1500) == std::vector<double>{1900, 1400});
  CHECK(clocks_of({0, 1900, 1400, 1900}, 0) == std::vector<double>{1900, 1400, 1900, 1900, 1900});
  // A clock that is not known is not low.
  CHECK(clocks_of({0}, 1500) == std::vector<double>(5, 0.0));
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
    worker::run_request unseen;
    unseen.output.wanted = false;
    CHECK(bench.run(unseen).unfinished == changes);
  }
}
