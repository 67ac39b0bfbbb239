#include "devices/power_meter.hpp"

#include "os/posix.hpp"

#include <chrono>

namespace kzoo::devices {

power_meter::power_meter(const nvml& device) : device_(device) {
  if (!device.absent().empty()) return;
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
  power_use use;
  const power_reading *first = nullptr, *last = nullptr;
  int updates = 0;
  for (const power_reading& r : joules) {
    if (r.seconds < begin || r.seconds > end) continue;
    if (first == nullptr) first = &r;
    last = &r;
    ++updates;
  }
  if (updates > 1) {
    use.watts = (last->value - first->value) / (last->seconds - first->seconds);
    use.counter_seconds = (last->seconds - first->seconds) / (updates - 1);
  }
  double sum = 0;
  int count = 0;
  for (const power_reading& r : watts) {
    if (r.seconds < begin || r.seconds > end) continue;
    sum += r.value;
    ++count;
  }
  if (count > 0) use.reported_watts = sum / count;
  return use;
}

}  // namespace kzoo::devices
