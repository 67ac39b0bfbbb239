#include "run/device_memory.hpp"

#include "core/operands.hpp"
#include "input/diagnostics.hpp"
#include "worker/prepared_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace kzoo::run {
namespace {

double bytes_of(const data::matrix& x) {
  return static_cast<double>(data::word_count(x)) * static_cast<double>(type_size(x.type));
}

// The redzones around the matrix, on a GPU.
double zones_bytes_of(const data::matrix& x) {
  return 2 * static_cast<double>(worker::device_matrix::zone_bytes(x));
}

double sum_over(const problem& p, double (*bytes)(const data::matrix&)) {
  double sum = bytes(operands_of(p).c);
  for (const named_operand& input : inputs_of(p)) sum += bytes(input.stored);
  return sum;
}
double matrices_bytes(const problem& p) { return sum_over(p, bytes_of); }

std::string gigabytes(double bytes) { return fmt::format("{:.1f} GB", bytes / 1e9); }

const problem* largest_of(const plan& p) {
  const auto& problems = p.experiment.problems;
  const auto largest = std::ranges::max_element(problems, {}, matrices_bytes);
  return largest == problems.end() ? nullptr : &*largest;
}

bool is_end_to_end(const results::experiment& e) { return e.timing.enabled && e.timing.end_to_end; }

// A second copy of each matrix exists while tier full moves them.
double copies_of_matrices(const results::experiment& e) {
  return e.verify.tier == tier::quick ? 1 : 2;
}
double bytes_on_device(const plan& p, const problem& largest) {
  const results::experiment& e = p.experiment;
  const bool gpu = p.device.abi.kind == KZOO_CUDA;
  return (is_end_to_end(e) ? 2 : copies_of_matrices(e)) *
         (matrices_bytes(largest) + (gpu ? sum_over(largest, zones_bytes_of) : 0));
}

// The first turns of a process load code and set up tables that stay.
constexpr std::size_t kEnoughTurns = 3;
constexpr std::int64_t kKilobyte = 1 << 10, kMegabyte = 1 << 20;
// Code and tables that a GPU library loads on first use.
constexpr std::int64_t kMostForTables = 1024 * kMegabyte;
// Allocators sometimes keep a little.
constexpr std::int64_t kLeast = 4 * kKilobyte, kLarge = 16 * kMegabyte;

std::int64_t kept_each_time(std::span<const worker::memory_report> turns,
                            std::int64_t worker::memory_report::*kind) {
  return std::ranges::min(turns, {}, kind).*kind;
}

// Variants other than the baseline.
std::size_t rivals_in(const plan& p) {
  std::size_t count = 0;
  for (const loaded_plugin& plugin : p.plugins) {
    for (const selected_variant& v : plugin.variants)
      count += !p.experiment.is_baseline(plugin.record.name, v.description.id);
  }
  return count;
}

}  // namespace

memory_need memory_need_of(const plan& p, const devices::nvml& monitor) {
  constexpr std::int64_t kContextBytes = std::int64_t{1} << 30;
  const problem* const largest = largest_of(p);
  if (p.device.abi.kind != KZOO_CUDA || largest == nullptr) return {};
  return {p.device, static_cast<std::int64_t>(bytes_on_device(p, *largest)) + kContextBytes,
          &monitor};
}

// On the device, one worker at a time holds A, B and C. On the host, each worker shares its C with
// the supervisor. If C is too large to compare all of it, workers share the judged rows only. One
// worker at a time then shares all of C to locate an error. For the judged rows the supervisor
// holds expected results in fp64 and fp32, and the result of every variant. Several devices
// multiply the host's part. Those that a problem is divided among share its results, as copies.
void check_memory(const plan& p) {
  const problem* const largest = largest_of(p);
  if (largest == nullptr) return;

  const std::size_t results = p.variants();
  const results::experiment& e = p.experiment;
  const bool gpu = p.device.abi.kind == KZOO_CUDA;
  const double on_device = bytes_on_device(p, *largest);
  const double judged = static_cast<double>(reference::expected_result::rows_of(*largest)) *
                        static_cast<double>(largest->n);
  // Tier full also judges results for other contents.
  const auto per_element = copies_of_matrices(e) * (sizeof(double) + sizeof(float));
  const double all_results = judged * static_cast<double>(results * type_size(largest->dtype.c));
  const double c_bytes = bytes_of(operands_of(*largest).c);
  const bool whole = reference::expected_result::rows_of(*largest) == largest->all_rows();
  const double shared = whole ? c_bytes : judged * static_cast<double>(type_size(largest->dtype.c));
  double on_host = shared * static_cast<double>(p.plugins.size()) + (whole ? 0 : c_bytes) +
                   judged * per_element + (is_end_to_end(e) ? matrices_bytes(*largest) : 0);

  const auto refuse = [&](const char* where, double needed, double free) {
    throw input::invalid(fmt::format(
        "{}: error: {} does not fit: it needs {} of {} memory ({} for A, B and C), and {} is free; "
        "choose smaller sizes{}",
        to_string(p.experiment.problems_where), problem_name(*largest), gigabytes(needed), where,
        gigabytes(on_device), gigabytes(free), results > 1 ? " or fewer plugins" : ""));
  };
  const results::device host = gpu ? devices::find("cpu") : p.device;
  if (gpu) {
    for (const results::device& d : p.devices) {
      const auto free = static_cast<double>(devices::free_memory(d));
      if (on_device > free) refuse("device", on_device, free);
    }
  } else {
    on_host += on_device;
  }
  const std::size_t devices = p.devices.size(), at_once = std::min(devices, e.problems.size());
  // Devices that the largest problem may be divided among.
  const std::size_t among = e.baseline ? std::clamp<std::size_t>(rivals_in(p), 1, devices) : 1;
  on_host = on_host * static_cast<double>(std::max(at_once, among)) +
            all_results * static_cast<double>(std::max<std::size_t>(at_once, among > 1 ? 2 : 1));
  const auto free = static_cast<double>(devices::free_memory(host));
  if (on_host > free) refuse("host", on_host, free);
}

std::optional<worker::memory_report> release(client::plugin_client& client,
                                             const memory_need& needed) try {
  auto kept = client.free_memory(needed.monitor);
  if (!kept || kept->device_free >= needed.bytes) return kept;
  client.leave();
  const auto free_now = static_cast<std::int64_t>(devices::free_memory(needed.on));
  kept->device = std::min(kept->device, free_now - kept->device_free);
  return kept;
} catch (const failure&) {
  return std::nullopt;  // a worker that fails is ended, which also frees the memory
}

void leaks::add(const std::optional<worker::memory_report>& kept, std::int64_t needed) {
  if (!kept) return;
  turns_.push_back(*kept);
  if (kept->device > kMostForTables && kept->device_free < needed)
    starves_others_ = fmt::format(
        "keeps {:.1f} GB of device memory when it is destroyed: {:.1f} GB are free then, and "
        "others need {:.1f} GB",
        1e-9 * static_cast<double>(kept->device), 1e-9 * static_cast<double>(kept->device_free),
        1e-9 * static_cast<double>(needed));
}

std::optional<leaks::leak> leaks::found() const {
  if (!starves_others_.empty()) return leak{starves_others_, true};
  if (turns_.size() < kEnoughTurns) return std::nullopt;
  const std::span last = std::span(turns_).last(kEnoughTurns);
  if (std::ranges::all_of(last, &worker::memory_report::of_first_turn)) return std::nullopt;
  for (const auto& [kind, name] : {std::pair{&worker::memory_report::host, "host"},
                                   {&worker::memory_report::device, "device"}}) {
    const std::int64_t kept = kept_each_time(last, kind);
    if (kept < kLeast) continue;
    return leak{fmt::format("leaks {} memory: {} more at least after each turn of creating it, "
                            "running it and destroying it",
                            name,
                            kept < kMegabyte ? fmt::format("{} kB", kept / kKilobyte)
                                             : fmt::format("{} MB", kept / kMegabyte)),
                kept >= kLarge};
  }
  return std::nullopt;
}

}  // namespace kzoo::run
