// What clocks of an idle and of a busy device say about a lock.
#include "devices/clock_lock.hpp"
#include "devices/nvml.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"

using kzoo::devices::find_clock_lock;
using kzoo::results::conditions;

namespace {

conditions at(double mhz, const std::set<std::string>& reasons = {}) {
  conditions c;
  c.sm_mhz = mhz;
  c.clock_reasons = reasons;
  return c;
}

constexpr double kHighest = 1980;

}  // namespace

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
  CHECK(kzoo::devices::nvml("0000:18:00.0", kzoo::test::fake_nvml()).busy_share() == Approx(0.37));
  CHECK_FALSE(kzoo::devices::nvml("").busy_share());
}
