#include "run/leaks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>

namespace kzoo::run {
namespace {

// The first turns load code and set up tables that stay.
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

}  // namespace

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
