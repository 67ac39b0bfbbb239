#pragma once
// A kernel that fails where another has run before, in the same process, gets a second chance in a
// process of its own: what ran before may be the reason.

#include "results/cell.hpp"

#include <fmt/format.h>

#include <string>

namespace kzoo::run {

// `before`: what plugin_client::ran_before() says. Timeouts are long, so a kernel that hangs gets
// no second chance.
inline bool gets_second_chance(const results::cell& c, const std::string& before) {
  return is_failure(c.verdict) && c.verdict != verdict::hung && !before.empty();
}

// The finding of one that passes then; `passes`: "passes in a process of its own".
inline results::finding second_chance(std::string_view passes, const std::string& before,
                                      const results::cell& failed) {
  return results::remark(
      results::kOwnWorker,
      fmt::format("{}; after {} in the same process it was {} ({}), so that one is suspect", passes,
                  before, verdict_name(failed.verdict), failed.reason));
}

}  // namespace kzoo::run
