#pragma once
// A check detects one way in which a kernel can be wrong.

#include "checks/fitted_problem.hpp"
#include "core/tier.hpp"
#include "results/finding.hpp"

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::checks {

// The candidate fails the check; what() says where and by how much.
class failed : public std::runtime_error {
 public:
  explicit failed(const std::string& reason, std::optional<reference::error_map> where = {},
                  std::string_view what = step::kResult)
      : std::runtime_error(reason), errors(std::move(where)), step(what) {}
  std::optional<reference::error_map> errors;
  std::string_view step;
};
// The coverage of a check that passed.
struct covered {
  std::string detail;
  std::string not_checked{};  // and why; "": everything was covered
};
// The check could not be made; what() says why.
class skipped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct check {
  const char* name;
  // Returns what was checked, and leaves no instance. Throws failed, skipped or failure.
  covered (*run)(candidate& c);
  // A check that does not apply is not reported.
  bool (*applies_to)(const candidate& c) = [](const candidate&) { return true; };
  // True: run on each problem of an experiment. False: run once per element type and layout.
  bool is_about_problem = false;
  tier from = tier::full;  // the lowest tier that includes it
};

// Runs one check; does not throw when the plugin fails.
results::finding run_check(const check& which, candidate& c);
// The finding for a check that is skipped because an earlier one hung.
results::finding skipped_after_hang(const check& which);

// Throws failed unless the judgement is right: "DOING: reason".
void require(const reference::judgement& j, const std::string& doing);

// Prepares, runs and judges each problem once, in the next larger size that the variant takes.
// Returns their number: "20 problems". Throws skipped if the variant rejects all.
covered sweep(candidate& c, const std::vector<problem>& problems);

}  // namespace kzoo::checks
