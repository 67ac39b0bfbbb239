#pragma once
// One way in which a kernel can be wrong, and how to find out.

#include "checks/candidate.hpp"
#include "core/tier.hpp"
#include "results/finding.hpp"

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace kzoo::checks {

// The candidate is wrong; what() says where and by how much.
class failed : public std::runtime_error {
 public:
  explicit failed(const std::string& reason, std::optional<reference::error_map> where = {})
      : std::runtime_error(reason), errors(std::move(where)) {}
  std::optional<reference::error_map> errors;
};
// The check says nothing about the candidate; what() says why.
class skipped : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Checks keep nothing between two calls.
class check {
 public:
  virtual ~check() = default;

  virtual const char* name() const = 0;
  virtual tier from() const { return tier::full; }
  // Asked once for each element type, or on each problem of an experiment?
  virtual bool is_about_problem() const { return false; }
  // Where it does not, it is not even mentioned.
  virtual bool applies_to(const candidate&) const { return true; }
  // Says what was looked at. Throws failed, skipped, or failure; leaves no instance behind when it
  // returns.
  virtual std::string look(candidate& s) const = 0;
};

// Every check there is, in the order in which they are made.
std::span<const check* const> all_checks();

// Makes one check; never throws for what the plugin does.
results::finding make(const check& c, candidate& s);
// Of one that is not made any more, because an earlier one hung.
results::finding after_hang(const check& c);
// Makes the checks of a tier: those about the problem at hand, or those about the element type.
// What comes after a hang is skipped.
std::vector<results::finding> make_checks(tier t, bool about_problem, candidate& s);

// Throws failed unless the judgement is right: "DOING: reason".
void require(const reference::judgement& j, const std::string& doing);

// Prepares, runs and judges each problem, and says how many: "20 problems", "12 problems, 8
// declined: it needs …". Throws skipped when all are declined.
std::string sweep(candidate& s, const std::vector<problem>& problems);

}  // namespace kzoo::checks
