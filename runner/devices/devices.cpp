#include "devices/devices.hpp"

#include "devices/backend.hpp"
#include "os/files.hpp"
#include "os/parallel.hpp"
#include "os/text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace kzoo::devices {
namespace {

// The value of a line "key : value" in a /proc file; nothing if it has none.
std::optional<std::string> proc_value(const char* file, std::string_view key) {
  for (const std::string& line : lines_of(content_of(file))) {
    const auto colon = line.find(':');
    if (!line.starts_with(key) || colon == std::string::npos) continue;
    const std::string_view value = trimmed(std::string_view(line).substr(colon + 1));
    if (!value.empty()) return std::string(value);
  }
  return std::nullopt;
}

results::device cpu_device() {
  results::device d;
  d.id = "cpu";
  d.name = proc_value("/proc/cpuinfo", "model name").value_or("CPU");
  const unsigned threads = hardware_threads();
  d.abi = {.struct_size = sizeof(kzoo_device),
           .kind = KZOO_CPU,
           .ordinal = 0,
           .compute_capability = 0,
           .multiprocessors = threads,
           .shared_bytes_per_block = 0,
           .threads = threads,
           .reserved = 0};
  d.memory_bytes = std::uint64_t(sysconf(_SC_PHYS_PAGES)) * std::uint64_t(sysconf(_SC_PAGESIZE));
  d.facts["threads"] = std::to_string(threads);
  return d;
}

constexpr const char* kNoGpu = "There is no CUDA device.";

// N of "cuda:N"; names have been checked.
int ordinal_of(const std::string& name) {
  return number_from<int>(std::string_view(name).substr(name.find(':') + 1)).value_or(0);
}

}  // namespace

std::vector<results::device> list() {
  std::vector<results::device> all{cpu_device()};
  for (results::device& d : list_cuda()) all.push_back(std::move(d));
  return all;
}

results::device find(const std::string& name) {
  if (name == "cpu") return cpu_device();
  std::vector<results::device> gpus = list_cuda();
  if (name == "auto") return gpus.empty() ? cpu_device() : gpus.front();
  if (gpus.empty()) throw absent(why_no_cuda().value_or(kNoGpu));
  const auto wanted = static_cast<std::size_t>(ordinal_of(name));
  if (wanted >= gpus.size()) {
    throw absent(
        fmt::format("There is no {}: this machine has {} CUDA device{}. "
                    "`runner devices` lists them.",
                    name, gpus.size(), gpus.size() == 1 ? "" : "s"));
  }
  return gpus[wanted];
}

std::vector<results::device> find_all(const std::string& name) {
  if (name != "cuda:all") return {find(name)};
  std::vector<results::device> all;
  // For tests on machines without several GPUs: "cpu,cpu".
  if (const char* names = std::getenv("KZOO_ALL_DEVICES")) {
    for (const std::string_view one : parts_of(names, ',')) all.push_back(find(std::string(one)));
  } else {
    all = list_cuda();
  }
  if (all.empty()) throw absent(why_no_cuda().value_or(kNoGpu));
  check_one_model(all);
  return all;
}

void check_one_model(const std::vector<results::device>& all) {
  const auto other = std::ranges::find_if(
      all, [&](const results::device& d) { return d.name != all.front().name; });
  if (other == all.end()) return;
  throw std::invalid_argument(fmt::format(
      "cuda:all: the GPUs here are of different models, {} is {} and {} is {}: times of "
      "one run could not be compared. Name one, cuda:N, or choose those of one model "
      "with CUDA_VISIBLE_DEVICES.",
      all.front().id, all.front().name, other->id, other->name));
}

std::uint64_t free_memory(const results::device& d) {
  if (d.abi.kind == KZOO_CUDA) return free_cuda_memory(d.abi.ordinal);
  const std::string available = proc_value("/proc/meminfo", "MemAvailable").value_or("");
  std::uint64_t kilobytes = 0;
  std::from_chars(available.data(), available.data() + available.size(), kilobytes);
  return kilobytes == 0 ? d.memory_bytes : kilobytes * 1024;
}

const char* kind_name(kzoo_device_kind kind) { return kind == KZOO_CUDA ? "cuda" : "cpu"; }

std::unique_ptr<backend> open(const std::string& device_id) {
  return device_id == "cpu" ? open_cpu() : open_cuda(ordinal_of(device_id));
}

#ifndef KZOO_HAS_CUDA
std::vector<results::device> list_cuda() { return {}; }

std::optional<std::string> why_no_cuda() {
  return "This kernel-zoo was built without CUDA. Install the CUDA toolkit and build again, or run "
         "with --device cpu.";
}

std::uint64_t free_cuda_memory(int) { throw absent(why_no_cuda().value()); }

std::unique_ptr<backend> open_cuda(int) { throw absent(why_no_cuda().value()); }
#endif

}  // namespace kzoo::devices
