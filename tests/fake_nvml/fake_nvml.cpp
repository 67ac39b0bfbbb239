// NVML as far as runner/devices/nvml.cpp uses it, for machines without a driver: one GPU at
// 0000:18:00.0 that is hot and slowed down, and does not tell its power limit.

#include <chrono>
#include <string_view>

namespace {

constexpr int kSuccess = 0, kNotSupported = 3, kNotFound = 6;
int gpu = 0;
int users = 0;

}  // namespace

extern "C" {

int nvmlInit_v2() { return ++users, kSuccess; }
int nvmlShutdown() { return --users, kSuccess; }
int fake_nvml_users() { return users; }

const char* nvmlErrorString(int result) { return result == kNotFound ? "Not Found" : "?"; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  if (std::string_view(address) != "0000:18:00.0") return kNotFound;
  *device = &gpu;
  return kSuccess;
}

int nvmlDeviceGetClockInfo(void* device, int which, unsigned* mhz) {
  if (device != &gpu) return kNotFound;
  *mhz = which == 1 ? 990 : which == 2 ? 3201 : 0;
  return kSuccess;
}

struct utilization {
  unsigned gpu, memory;
};
int nvmlDeviceGetUtilizationRates(void*, utilization* percent) {
  *percent = {37, 12};
  return kSuccess;
}

int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
  *celsius = sensor == 0 ? 91 : 0;
  return kSuccess;
}

int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 512500;
  return kSuccess;
}

// 400 J for each second that the process has lived, counted every 20 ms.
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
  *millijoules = static_cast<unsigned long long>(now.count() / 0.02) * 8000;
  return kSuccess;
}

struct running_process {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
};
// Two processes, of which the driver tells the memory of one.
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, running_process* running) {
  constexpr int kInsufficientSize = 7;
  if (*count < 2) return kInsufficientSize;
  *count = 2;
  running[0] = {1234, 3ull << 30, 0, 0};
  running[1] = {1235, ~0ull, 0, 0};
  return kSuccess;
}

int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned*) { return kNotSupported; }

// Of a driver before 535; one bit is not known.
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) {
  *bits = 0x40 | 0x8 | 0x10000;
  return kSuccess;
}
}
