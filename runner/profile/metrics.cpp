#include "profile/metrics.hpp"

#include "os/text.hpp"

#include <array>

namespace kzoo::profile::metric {
namespace {

// Stall reasons as the metrics spell them, without `selected`, with which a warp issues.
constexpr std::array kReasons{"barrier",
                              "branch_resolving",
                              "dispatch_stall",
                              "drain",
                              "gmma",
                              "imc_miss",
                              "lg_throttle",
                              "long_scoreboard",
                              "math_pipe_throttle",
                              "membar",
                              "mio_throttle",
                              "misc",
                              "no_instruction",
                              "not_selected",
                              "short_scoreboard",
                              "sleeping",
                              "tex_throttle",
                              "wait"};

std::string stall_metric(const std::string& reason) {
  return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& stalls() {
  static const auto list = [] {
    std::vector<std::pair<std::string, std::string>> made;
    for (const char* reason : kReasons)
      made.emplace_back(with_spaces(reason), stall_metric(reason));
    return made;
  }();
  return list;
}

std::vector<std::string> all(unsigned compute_capability) {
  std::vector<std::string> names{kTime,
                                 kLoadRequests,
                                 kLoadSectors,
                                 kLoadWavefronts,
                                 kStoreRequests,
                                 kStoreSectors,
                                 kCopyRequests,
                                 kCopySectors,
                                 kSharedWavefronts,
                                 kLoadConflicts,
                                 kStoreConflicts,
                                 kOccupancy,
                                 kFma,
                                 kTensor,
                                 kL1,
                                 kL2,
                                 kDram,
                                 kFfma};
  constexpr unsigned kHopper = 90;  // the first with wgmma
  for (const auto& [words, name] : stalls())
    if (words != "gmma" || compute_capability >= kHopper) names.push_back(name);
  return names;
}

}  // namespace kzoo::profile::metric
