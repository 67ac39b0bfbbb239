
#include "devices/devices.hpp"

#include "devices/cuda/runtime.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>

namespace kzoo::devices {
namespace {

int count_devices(cudaError_t& error) {
  int count = 0;
  error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

std::string version(int number) {  // 13000 is 13.0
  return fmt::format("{}.{}", number / 1000, number % 1000 / 10);
}

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  cuda::check(cudaDeviceGetAttribute(&value, which, ordinal), "cudaDeviceGetAttribute");
  return value;
}

std::string pci_bus_id(int ordinal) {
  std::array<char, 32> text{};
  cuda::check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), ordinal),
              "cudaDeviceGetPCIBusId");
  return text.data();
}

results::device describe(int ordinal) {
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  int driver = 0, runtime = 0;
  cuda::check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  cuda::check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");

  results::device d;
  d.id = fmt::format("cuda:{}", ordinal);
  d.name = properties.name;
  d.abi = {.struct_size = sizeof(kzoo_device),
           .kind = KZOO_CUDA,
           .ordinal = ordinal,
           .compute_capability = unsigned(10 * properties.major + properties.minor),
           .multiprocessors = unsigned(properties.multiProcessorCount),
           .shared_bytes_per_block = properties.sharedMemPerBlockOptin,
           .threads = 0,
           .reserved = 0};
  d.pci_bus_id = pci_bus_id(ordinal);
  d.memory_bytes = properties.totalGlobalMem;
  d.facts["compute_capability"] = fmt::format("{}.{}", properties.major, properties.minor);
  d.facts["multiprocessors"] = std::to_string(properties.multiProcessorCount);
  d.facts["l2_bytes"] = std::to_string(properties.l2CacheSize);
  const int clock_mhz = attribute(cudaDevAttrClockRate, ordinal) / 1000;
  d.highest_mhz = clock_mhz;
  d.facts["max_clock_mhz"] = std::to_string(clock_mhz);
  d.facts["driver_supports_cuda"] = version(driver);
  d.facts["runtime"] = version(runtime);
  std::ifstream kernel_module("/sys/module/nvidia/version");
  if (std::string number; kernel_module >> number) d.facts["driver"] = number;
  return d;
}

}  // namespace

std::vector<results::device> list_cuda() {
  cudaError_t error = cudaSuccess;
  const int count = count_devices(error);
  std::vector<results::device> gpus;
  for (int i = 0; i < count; ++i) gpus.push_back(describe(i));
  return gpus;
}

std::string why_no_cuda() {
  cudaError_t error = cudaSuccess;
  if (count_devices(error) > 0) return {};
  const char* remedy = "Run on a machine with an NVIDIA GPU, or with --device cpu.";
  if (error == cudaErrorInsufficientDriver) {
    return fmt::format(
        "There is no CUDA device: no NVIDIA driver, or one too old for this CUDA runtime ({}). {}",
        cuda::describe(error), remedy);
  }
  if (error == cudaSuccess || error == cudaErrorNoDevice) {
    return fmt::format("There is no CUDA device on this machine ({}). {}",
                       cuda::describe(cudaErrorNoDevice), remedy);
  }
  return fmt::format(
      "CUDA cannot be used: {}. `nvidia-smi` may say more; --device cpu works "
      "without a GPU.",
      cuda::describe(error));
}

std::uint64_t free_cuda_memory(int ordinal) {
  cuda::check(cudaSetDevice(ordinal), "cudaSetDevice");
  std::size_t free = 0, total = 0;
  cuda::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

}  // namespace kzoo::devices
