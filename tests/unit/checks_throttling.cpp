// Samples of a throttled device, reported by a fake worker.
#include "checks/timed_runs.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "worker/messages_json.hpp"

#include <nlohmann/json.hpp>

#include <deque>

using namespace kzoo;
using json = nlohmann::json;

namespace {

constexpr double kHighestMhz = 2000;

// Its samples take 1 ms, 2 ms, 3 ms …, at the clocks that it is given; the last one stays.
class slow_device final : public client::plugin_client {
 public:
  explicit slow_device(std::deque<double> clocks)
      : plugin_client("plugin.so", 1), clocks_(std::move(clocks)) {}

  std::vector<int> asked_for;  // samples, request by request

 protected:
  json exchange(const json& request, double) override {
    if (request.at("op") == "open") {
      results::plugin_description plugin;
      results::variant_description& v = plugin.variants.emplace_back();
      v.id = "slow";
      v.signatures = {{KZOO_F32, KZOO_COMPUTE_FP32}};
      return {{"plugin", plugin}};
    }
    if (request.at("op") != "sample") return json::object();
    const auto how = request.at("how").get<worker::sample_request>();
    asked_for.push_back(how.samples);
    worker::sample_report report;
    do {
      report.samples_ms.push_back(++taken_);
      report.sm_mhz.push_back(clocks_.front());
      if (clocks_.size() > 1) clocks_.pop_front();
      report.seconds += 0.1;
    } while (report.samples_ms.size() < std::size_t(how.samples) &&
             report.seconds < how.max_seconds && report.sm_mhz.back() >= how.least_mhz);
    return report;
  }
  void restart() override {}

 private:
  std::deque<double> clocks_;
  int taken_ = 0;
};

struct sampled : checks::judged_samples {
  timing::throttle_filter filter;
  int throttled = 0;
  bool low_clock = false;

  sampled(slow_device& device, const worker::sample_request& how,
          const devices::nvml* monitor = nullptr)
      : filter(kHighestMhz, how.samples) {
    checks::expected_results expected_results;
    checks::candidate candidate(
        device, {"plugin.so", "cuda:0", 0, {}, false, problem{4, 4, 4}, false, monitor},
        expected_results);
    candidate.prepare(candidate.current_problem());
    candidate.note_measured();  // no sample's errors are measured, so that one request takes all
    static_cast<judged_samples&>(*this) = checks::sample(candidate, how, filter);
    throttled = filter.discarded();
    low_clock = filter.low_clock();
  }
};

worker::sample_request samples(int count, double max_seconds = 100) {
  worker::sample_request how;
  how.samples = count;
  how.max_seconds = max_seconds;
  return how;
}

}  // namespace

TEST_CASE("a throttled sample is taken again", "[verify]") {
  slow_device device({1900, 1000, 1900});
  const sampled timed(device, samples(4));
  CHECK(timed.samples_ms == std::vector<double>{1, 3, 4, 5});
  CHECK(timed.sm_mhz == std::vector<double>(4, 1900));
  CHECK(timed.throttled == 1);
  CHECK_FALSE(timed.low_clock);
  CHECK(device.asked_for == std::vector<int>{4, 3});
}

TEST_CASE("a device that stays slow is measured as it is", "[verify]") {
  slow_device device({1000});
  const sampled timed(device, samples(6));
  CHECK(timed.samples_ms == std::vector<double>{4, 5, 6, 7, 8, 9});
  CHECK(timed.throttled == 3);
  CHECK(timed.low_clock);
  CHECK(device.asked_for == std::vector<int>{6, 6, 6, 6});
}

TEST_CASE("a sample counts once the time is over, however slow the device was", "[verify]") {
  slow_device device({1000});
  const sampled timed(device, samples(6, 0.25));
  CHECK(timed.samples_ms == std::vector<double>{3});
  CHECK(timed.throttled == 2);
  CHECK(timed.low_clock);
}

TEST_CASE("a slowdown that the driver reports throttles samples at any clock", "[verify]") {
  const devices::nvml monitor("0000:18:00.0", test::fake_nvml());
  slow_device device({2000});
  const sampled timed(device, samples(6), &monitor);
  CHECK(timed.throttled == 3);
  CHECK(timed.samples_ms.size() == 6);
  CHECK(timed.low_clock);
  CHECK(timed.conditions.celsius == 91);
  CHECK(timed.conditions.slowed_down());
}
