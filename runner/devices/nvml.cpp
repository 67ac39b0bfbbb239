#include "devices/nvml.hpp"

#include "os/posix.hpp"
#include "os/text.hpp"

#include <fmt/format.h>
#include <boost/dll/shared_library.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tuple>

namespace kzoo::devices {
namespace {

// The part of NVML's ABI that is used here: a machine with only the driver has no nvml.h.
using nvml_result = int;  // 0 is success
using nvml_device = void*;
enum clock_type { kSmClock = 1, kMemoryClock = 2 };
constexpr int kTemperatureOfGpu = 0;
constexpr double kWattsPerMilliwatt = 1e-3;

using get_number = nvml_result(nvml_device, unsigned*);
using get_number_of = nvml_result(nvml_device, int which, unsigned*);
using get_bits = nvml_result(nvml_device, unsigned long long*);
struct utilization {
  unsigned gpu, memory;  // percent
};
using get_utilization = nvml_result(nvml_device, utilization*);
struct running_process {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
};
using running_processes = std::array<running_process, 1024>;
using get_processes = nvml_result(nvml_device, unsigned* count, running_processes*);
constexpr unsigned long long kNotAvailable = ~0ull;

struct reason {
  unsigned long long bit;
  std::string_view name;
};
constexpr std::array kReasons{reason{0x1, "gpu_idle"},
                              reason{0x2, "applications_clocks_setting"},
                              reason{0x4, "sw_power_cap"},
                              reason{0x8, "hw_slowdown"},
                              reason{0x10, "sync_boost"},
                              reason{0x20, "sw_thermal_slowdown"},
                              reason{0x40, "hw_thermal_slowdown"},
                              reason{0x80, "hw_power_brake_slowdown"},
                              reason{0x100, "display_clock_setting"},
                              reason{0x200, "board_limit"},
                              reason{0x400, "reliability"}};

std::set<std::string> names_of(unsigned long long bits) {
  std::set<std::string> names;
  for (const reason& r : kReasons) {
    if ((bits & r.bit) != 0) names.emplace(r.name);
    bits &= ~r.bit;
  }
  if (bits != 0) names.insert(fmt::format("{:#x}", bits));  // a newer driver's
  return names;
}

}  // namespace

struct nvml::session {
  session(const std::string& file, const std::string& pci_bus_id) {
    namespace dll = boost::dll;
    try {
      library.load(file, dll::load_mode::search_system_folders | dll::load_mode::rtld_now |
                             dll::load_mode::rtld_local);
    } catch (const std::exception& e) {
      throw std::runtime_error(fmt::format("{}: {}", file, loader_message(e.what(), file)));
    }
    check(library.get<nvml_result()>("nvmlInit_v2")(), "nvmlInit");
    try {
      check(library.get<nvml_result(const char*, nvml_device*)>("nvmlDeviceGetHandleByPciBusId_v2")(
                pci_bus_id.c_str(), &handle),
            pci_bus_id);
    } catch (...) {
      shut_down();
      throw;
    }
  }
  ~session() { shut_down(); }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  // The function's result; nothing if the library lacks it or the device does not support it.
  template <class Number, class Function, class... Which>
  std::optional<Number> ask(const char* function, Which... which) const {
    Number number{};
    if (!library.has(function)) return std::nullopt;
    if (library.get<Function>(function)(handle, which..., &number) != 0) return std::nullopt;
    return number;
  }
  std::optional<double> number(const char* function, double unit = 1) const {
    const auto number = ask<unsigned, get_number>(function);
    return number ? std::optional(*number * unit) : std::nullopt;
  }
  std::optional<double> number_of(const char* function, int which) const {
    const auto number = ask<unsigned, get_number_of>(function, which);
    return number ? std::optional<double>(*number) : std::nullopt;
  }

  void check(nvml_result result, const std::string& about) const {
    if (result == 0) return;
    throw std::runtime_error(fmt::format(
        "{}: {}", about, library.get<const char*(nvml_result)>("nvmlErrorString")(result)));
  }
  void shut_down() const { library.get<nvml_result()>("nvmlShutdown")(); }

  boost::dll::shared_library library;
  nvml_device handle = nullptr;
};

nvml::nvml(const std::string& pci_bus_id, const std::string& library) {
  if (pci_bus_id.empty()) {
    absent_ = "the device is not a GPU";
    return;
  }
  try {
    session_ = std::make_unique<session>(library, pci_bus_id);
  } catch (const std::exception& e) {
    absent_ = fmt::format("NVML cannot be used: {}", e.what());
  }
}

nvml::~nvml() = default;

results::conditions nvml::read() const {
  results::conditions now;
  if (!session_) return now;
  now.sm_mhz = session_->number_of("nvmlDeviceGetClockInfo", kSmClock);
  now.memory_mhz = session_->number_of("nvmlDeviceGetClockInfo", kMemoryClock);
  now.celsius = session_->number_of("nvmlDeviceGetTemperature", kTemperatureOfGpu);
  now.watts = watts();
  now.power_limit_watts = session_->number("nvmlDeviceGetEnforcedPowerLimit", kWattsPerMilliwatt);
  // The second is the function's name before driver 535.
  for (const char* name :
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}) {
    const auto bits = session_->ask<unsigned long long, get_bits>(name);
    if (!bits) continue;
    now.clock_reasons = names_of(*bits);
    break;
  }
  return now;
}

std::optional<double> nvml::watts() const {
  return session_ ? session_->number("nvmlDeviceGetPowerUsage", kWattsPerMilliwatt) : std::nullopt;
}

std::optional<double> nvml::joules() const {
  if (!session_) return std::nullopt;
  const auto millijoules =
      session_->ask<unsigned long long, get_bits>("nvmlDeviceGetTotalEnergyConsumption");
  return millijoules ? std::optional(static_cast<double>(*millijoules) * 1e-3) : std::nullopt;
}

std::optional<double> nvml::busy_share() const {
  if (!session_) return std::nullopt;
  const auto percent = session_->ask<utilization, get_utilization>("nvmlDeviceGetUtilizationRates");
  return percent ? std::optional(percent->gpu * 1e-2) : std::nullopt;
}

std::optional<std::int64_t> nvml::memory_of(pid_t process) const {
  if (!session_) return std::nullopt;
  auto count = unsigned{std::tuple_size_v<running_processes>};
  const auto running = session_->ask<running_processes, get_processes>(
      "nvmlDeviceGetComputeRunningProcesses_v3", &count);
  if (!running) return std::nullopt;
  const std::span listed = std::span(*running).first(count);
  const auto found =
      std::ranges::find(listed, static_cast<unsigned>(process), &running_process::pid);
  if (found == listed.end() || found->bytes == kNotAvailable) return std::nullopt;
  return static_cast<std::int64_t>(found->bytes);
}

clock_lock unknown_clock_lock(const std::string& reason) {
  return {{}, "whether they are locked cannot be told: " + reason};
}

clock_lock find_clock_lock(const results::conditions& idle, const results::conditions& busy,
                           double highest_mhz) {
  constexpr double kSame = 0.02;  // clocks have steps of 15 MHz, which is 1 % of 1500
  if (!idle.sm_mhz || !busy.sm_mhz || *busy.sm_mhz <= 0 || highest_mhz <= 0)
    return unknown_clock_lock("the driver does not report them");
  const double mhz = *busy.sm_mhz;
  if (busy.clock_reasons.contains("applications_clocks_setting"))
    return {true, fmt::format("locked at {:.0f} MHz", mhz)};
  if (busy.slowed_down() || busy.power_capped())
    return unknown_clock_lock(fmt::format("heat or power lowers them ({})", to_string(busy)));
  if (std::abs(*idle.sm_mhz - mhz) > kSame * mhz)
    return {false, fmt::format("not locked: {:.0f} MHz idle, {:.0f} MHz busy", *idle.sm_mhz, mhz)};
  if (mhz < (1 - kSame) * highest_mhz) return {true, fmt::format("locked at {:.0f} MHz", mhz)};
  return unknown_clock_lock(fmt::format("{:.0f} MHz, idle and busy, is the highest clock", mhz));
}

std::string how_to_lock(const std::string& pci_bus_id, double highest_mhz) {
  constexpr double kStepMhz = 15, kShare = 0.75;  // a clock that a GPU can hold at its power limit
  const std::string mhz =
      highest_mhz > 0
          ? fmt::format("{:.0f}", kStepMhz * std::round(kShare * highest_mhz / kStepMhz))
          : "MHZ";
  return fmt::format(
      "An administrator locks them with `nvidia-smi -i {} --lock-gpu-clocks={}` (another clock of "
      "`nvidia-smi -q -d SUPPORTED_CLOCKS` will do; `--reset-gpu-clocks` unlocks them).",
      pci_bus_id, mhz);
}

power_meter::power_meter(const nvml& device) : device_(device) {
  if (device.absent()) return;
  reader_ = std::jthread([this](const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kPause{5};
    for (; !stop.stop_requested(); std::this_thread::sleep_for(kPause)) read();
  });
}

power_meter::~power_meter() = default;

void power_meter::read() {
  const std::optional<double> joules = device_.joules(), watts = device_.watts();
  const double seconds = steady_seconds();
  const std::scoped_lock lock(readings_);
  if (joules && (joules_.empty() || joules_.back().value != *joules))
    joules_.push_back({seconds, *joules});
  if (watts) watts_.push_back({seconds, *watts});
}

power_use power_meter::between(double begin, double end) const {
  const std::scoped_lock lock(readings_);
  return power_between(begin, end, joules_, watts_);
}

power_use power_between(double begin, double end, const std::vector<power_reading>& joules,
                        const std::vector<power_reading>& watts) {
  const auto within = [&](const std::vector<power_reading>& all) {
    const auto first = std::ranges::lower_bound(all, begin, {}, &power_reading::seconds);
    return std::span(first,
                     std::ranges::upper_bound(first, all.end(), end, {}, &power_reading::seconds));
  };
  power_use use;
  if (const auto updates = within(joules); updates.size() > 1) {
    const double seconds = updates.back().seconds - updates.front().seconds;
    use.watts = (updates.back().value - updates.front().value) / seconds;
    use.counter_seconds = seconds / static_cast<double>(updates.size() - 1);
  }
  if (const auto readings = within(watts); !readings.empty()) {
    double sum = 0;
    for (const power_reading& r : readings) sum += r.value;
    use.reported_watts = sum / static_cast<double>(readings.size());
  }
  return use;
}

}  // namespace kzoo::devices
