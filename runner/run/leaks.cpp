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
// Allocators keep a little now and then.
constexpr std::int64_t kLeast = 4 * kKilobyte, kLarge = 16 * kMegabyte;

std::int64_t kept_each_time(std::span<const worker::memory_report> turns,
                            std::int64_t worker::memory_report::*kind) {
  return std::ranges::min(turns, {}, kind).*kind;
}

}  // namespace

std::optional<leaks::leak> leaks::found() const {
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
