#include "results/finding.hpp"

namespace kzoo::results {

std::string_view outcome_name(outcome o) {
  switch (o) {
    case outcome::pass:
      return "pass";
    case outcome::fail:
      return "fail";
    case outcome::skipped:
      return "skipped";
    case outcome::crashed:
      return "crashed";
    case outcome::hung:
      return "hung";
  }
  return "?";
}

}  // namespace kzoo::results
