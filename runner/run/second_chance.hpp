#pragma once
// If a kernel fails after another ran in the same process, it gets a second chance in its own
// process: the other kernel may be the cause.

#include "results/cell.hpp"

#include <fmt/format.h>

#include <string>

namespace kzoo::run {

// `before`: plugin_client::ran_before(). A hang gets no second chance: timeouts are long.
inline bool gets_second_chance(const results::cell& c, const std::string& before) {
  return is_failure(c.verdict) && c.verdict != verdict::hung && !before.empty();
}

// The finding for a kernel that then passes. `passes`: e.g. "passes in a process of its own".
inline results::finding second_chance(std::string_view passes, const std::string& before,
                                      const results::cell& failed) {
  return results::remark(
      results::kOwnWorker,
      fmt::format("{}; after {} in the same process it was {} ({}), so that one is suspect", passes,
                  before, verdict_name(failed.verdict), failed.reason));
}

}  // namespace kzoo::run
