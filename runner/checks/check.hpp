#pragma once
// A check detects one way in which a kernel can be wrong.

#include "checks/candidate.hpp"
#include "core/verdict.hpp"
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
  std::optional<std::string> not_checked{};  // the part that was not covered, and why
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

// In the order in which they run.
const std::vector<check>& all_checks();

// Runs a tier's checks of the problem, or of its type and layout. Skips the rest after a hang.
std::vector<results::finding> run_checks(tier t, bool about_problem, candidate& c);

// The usual runs of a cell, as a check for `validate`: one run on the current problem, then
// repeated runs as for timing. Judges each distinct result.
check runs_and_repeats();

// Judges all of a C that is too large for comparing each element, by Freivalds' algorithm on small
// integers, which is exact. Sums on the device, so that only one number per row is copied.
check freivalds();

// Whether the bits of a row of C depend on M, which matters when models are served in batches.
// Never fails: "yes", "no" or "up to M = 64", with what was compared.
check batch_invariance();

// Checks on the current problem that a run depends only on its arguments.
std::vector<check> checks_of_state();

// Checks that require right results on a list of problems, once per element type and layout.
std::vector<check> sweeps();

// The checks of tier paranoid: start this runner under a tool that checks every memory access.
std::vector<check> sanitizers();

}  // namespace kzoo::checks
