// With a fake of the driver's library, and with the real one where there is a GPU.
#include "devices/devices.hpp"
#include "devices/nvml.hpp"
#include "os/posix.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/program.hpp"
#include "support/skip.hpp"

#include <boost/dll/shared_library.hpp>

using kzoo::devices::find_clock_lock;
using kzoo::devices::nvml;
using kzoo::results::conditions;
using kzoo::test::ContainsSubstring;

namespace {

constexpr const char* kAddress = "0000:18:00.0";

conditions at(double mhz, const std::set<std::string>& reasons = {}) {
  conditions c;
  c.sm_mhz = mhz;
  c.clock_reasons = reasons;
  return c;
}

constexpr double kHighest = 1980;

}  // namespace

TEST_CASE("NVML's values are converted to units, its bits to names", "[devices]") {
  const nvml monitor(kAddress, kzoo::test::fake_nvml());
  CHECK_FALSE(monitor.absent());
  const conditions now = monitor.read();
  CHECK(now.sm_mhz == 990);
  CHECK(now.memory_mhz == 3201);
  CHECK(now.celsius == 91);
  CHECK(now.watts == 512.5);
  CHECK_FALSE(now.power_limit_watts);  // not reported: absent, not 0
  CHECK(now.clock_reasons ==
        std::set<std::string>{"hw_slowdown", "hw_thermal_slowdown", "0x10000"});
  CHECK(to_string(now) ==
        "990 MHz, memory 3201 MHz, 91 °C, 512 W, 0x10000, hw_slowdown, hw_thermal_slowdown");
}

TEST_CASE("power over some time, by the energy counter and by what the driver reports",
          "[devices]") {
  // The counter steps every 20 ms, by 8 J.
  const std::vector<kzoo::devices::power_reading> joules{
      {0.98, 92}, {1.00, 100}, {1.02, 108}, {1.04, 116}, {1.06, 124}};
  const std::vector<kzoo::devices::power_reading> watts{{0.99, 100}, {1.01, 500}, {1.03, 520}};
  const auto use = kzoo::devices::power_between(0.995, 1.05, joules, watts);
  REQUIRE(use.watts);
  CHECK(*use.watts == Approx(400));
  CHECK(use.counter_seconds == Approx(0.02));
  REQUIRE(use.reported_watts);
  CHECK(*use.reported_watts == Approx(510));

  const auto short_time = kzoo::devices::power_between(1.005, 1.03, joules, watts);
  CHECK_FALSE(short_time.watts);  // one step is no difference
  CHECK(short_time.reported_watts);
  CHECK_FALSE(kzoo::devices::power_between(2, 3, joules, watts).reported_watts);
}

TEST_CASE("power is read as long as a meter lives", "[devices]") {
  const nvml monitor(kAddress, kzoo::test::fake_nvml());
  const kzoo::devices::power_meter meter(monitor);
  const double begin = kzoo::steady_seconds();
  CHECK(kzoo::test::eventually([&] {
    const auto use = meter.between(begin, kzoo::steady_seconds());
    return use.watts && *use.watts > 0 && use.reported_watts == 512.5;
  }));

  const nvml nothing("");
  const kzoo::devices::power_meter none(nothing);
  const auto unknown = none.between(begin, kzoo::steady_seconds());
  CHECK_FALSE(unknown.watts);
  CHECK_FALSE(unknown.reported_watts);
}

TEST_CASE("NVML is shut down, also after a failure", "[devices]") {
  boost::dll::shared_library library(kzoo::test::fake_nvml());
  const auto& users = library.get<int()>("fake_nvml_users");
  {
    const nvml monitor(kAddress, kzoo::test::fake_nvml());
    CHECK(users() == 1);
  }
  CHECK(users() == 0);
  const nvml no_such_device("0000:19:00.0", kzoo::test::fake_nvml());
  CHECK(users() == 0);
}

TEST_CASE("if nothing can be read through NVML, absent() says why", "[devices]") {
  const nvml no_library(kAddress, "libno-such-nvml.so.1");
  CHECK(no_library.absent() ==
        "NVML cannot be used: libno-such-nvml.so.1: cannot open shared object file: No such file "
        "or directory");
  CHECK_FALSE(no_library.read().any());

  const nvml no_such_device("0000:19:00.0", kzoo::test::fake_nvml());
  CHECK(no_such_device.absent() == "NVML cannot be used: 0000:19:00.0: Not Found");
  CHECK(nvml("").absent() == "the device is not a GPU");
}

TEST_CASE("conditions of several moments: the highest, and every reason", "[devices]") {
  conditions all;
  CHECK_FALSE(all.any());
  all.add({1980, 3201, 60, 700, 700, {"sw_power_cap"}});
  CHECK(all.power_capped());
  CHECK_FALSE(all.slowed_down());
  all.add({1500, {}, 55, {}, {}, {"sw_thermal_slowdown"}});
  CHECK(all == conditions{1500, 3201, 60, 700, 700, {"sw_power_cap", "sw_thermal_slowdown"}});
  CHECK(all.slowed_down());
}

TEST_CASE("the driver reports a GPU's conditions", "[devices][.gpu]") {
  kzoo::test::needs_gpu();
  const kzoo::results::device gpu = kzoo::devices::find("cuda:0");
  const nvml monitor(gpu.pci_bus_id);
  REQUIRE_FALSE(monitor.absent());
  const conditions now = monitor.read();
  INFO(to_string(now));
  REQUIRE(now.sm_mhz);
  CHECK(*now.sm_mhz > 0);
  CHECK(*now.sm_mhz <= std::stod(gpu.fact("max_clock_mhz")));
  REQUIRE(now.celsius);
  CHECK(*now.celsius > 10);
  CHECK(*now.celsius < 110);
  for (const std::string& reason : now.clock_reasons) CHECK_FALSE(reason.starts_with("0x"));
}

TEST_CASE("a clock that is the same idle and busy, below the highest, is locked", "[devices]") {
  const auto held = find_clock_lock(at(1500, {"gpu_idle"}), at(1500), kHighest);
  CHECK(held.locked == true);
  CHECK(held.words == "locked at 1500 MHz");
  const auto application =
      find_clock_lock(at(345), at(1500, {"applications_clocks_setting"}), kHighest);
  CHECK(application.locked == true);
}

TEST_CASE("a clock that follows the load is not locked", "[devices]") {
  const auto free = find_clock_lock(at(345, {"gpu_idle"}), at(1980), kHighest);
  CHECK(free.locked == false);
  CHECK(free.words == "not locked: 345 MHz idle, 1980 MHz busy");
}

TEST_CASE("where the driver's answers leave it open, nothing is claimed of a lock", "[devices]") {
  const auto words_of = [](const conditions& idle, const conditions& busy, double highest) {
    const auto found = find_clock_lock(idle, busy, highest);
    CHECK_FALSE(found.locked);
    return found.words;
  };
  const std::string open = "whether they are locked cannot be told: ";
  CHECK(words_of(at(1980), at(1980), kHighest) ==
        open + "1980 MHz, idle and busy, is the highest clock");
  CHECK(words_of(conditions{}, at(1500), kHighest) == open + "the driver does not report them");
  CHECK(words_of(at(1500), at(1500), 0) == open + "the driver does not report them");
  CHECK(words_of(at(1500), at(1500, {"sw_thermal_slowdown"}), kHighest) ==
        open + "heat or power lowers them (1500 MHz, sw_thermal_slowdown)");
  CHECK(words_of(at(1500), at(1300, {"sw_power_cap"}), kHighest) ==
        open + "heat or power lowers them (1300 MHz, sw_power_cap)");
}

TEST_CASE("how clocks are locked names the device and a clock that it can hold", "[devices]") {
  CHECK(
      kzoo::devices::how_to_lock("0000:18:00.0", kHighest) ==
      "An administrator locks them with `nvidia-smi -i 0000:18:00.0 --lock-gpu-clocks=1485` "
      "(another clock of `nvidia-smi -q -d SUPPORTED_CLOCKS` will do; `--reset-gpu-clocks` unlocks "
      "them).");
}

TEST_CASE("the driver tells how busy a device is", "[devices]") {
  CHECK(nvml(kAddress, kzoo::test::fake_nvml()).busy_share() == Approx(0.37));
  CHECK_FALSE(nvml("").busy_share());
}

TEST_CASE("NVML tells a process's device memory if it lists it", "[devices]") {
  const nvml monitor(kAddress, kzoo::test::fake_nvml());
  CHECK(monitor.memory_of(1234) == std::int64_t{3} << 30);
  CHECK_FALSE(monitor.memory_of(1235));
  CHECK_FALSE(monitor.memory_of(1236));
  CHECK_FALSE(nvml("").memory_of(1234));
}
