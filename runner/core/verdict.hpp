#pragma once
// The outcome of one cell, how thoroughly it is checked, and what may fail.

#include "os/enums.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kzoo {

enum class verdict {
  pass,
  wrong,
  impossible_time,  // correct, but timed faster than the device's measured peaks allow
  crashed,
  hung,
  error,
  unsupported,
  unavailable
};
constexpr std::string_view names_of(verdict) {
  return "pass, wrong, impossible time, crashed, hung, error, unsupported, unavailable";
}

// The kernel did not run: it does not support the problem, or is not built for the device.
constexpr bool is_declined(verdict v) {
  return v == verdict::unsupported || v == verdict::unavailable;
}
constexpr bool is_failure(verdict v) { return v != verdict::pass && !is_declined(v); }

// Why a cell has no result to judge: the plugin rejected the problem, failed, crashed or hung.
class failure : public std::runtime_error {
 public:
  failure(kzoo::verdict v, const std::string& reason, std::string_view what = "")
      : std::runtime_error(reason), verdict(v), step(what) {}
  kzoo::verdict verdict;
  std::string_view step;  // of kzoo::step; empty if the verdict says it all
};

// How thoroughly a variant is checked before it counts as correct: docs/verdicts.md.

KZOO_ENUM(tier, quick, full, paranoid);

}  // namespace kzoo

// Ways to fail in a run, as named in results. Checks have their own names.
namespace kzoo::step {

inline constexpr std::string_view kResult = "result",  // C is wrong
    kMemory = "memory writes",            // into A, B, or around a matrix or the workspace
    kStream = "stream",                   // work is not on the given stream
    kUnfinished = "unfinished work",      // C still changes when the stream is done
    kKept = "kept result",                // C is the result of an earlier run's numbers
    kTimed = "timed runs",                // right when judged, wrong when timed
    kRepeats = "repeats",                 // different bits on the same numbers
    kFresh = "fresh memory",              // wrong in newly allocated memory
    kClock = "clock",                     // the clock of its process is wrong
    kCode = "loaded code",                // the runner's or a library's, changed in its process
    kChannel = "channel",                 // it wrote messages that only its worker may write
    kNeighbours = "work after its turn",  // which delays others
    kLeak = "leak",                       // memory that is not given back
    kFloor = "roofline floor",            // less time than the device needs
    kPrecision = "precision",             // it declares a lower precision than its problem takes
    kHostCode = "host code";              // its author's code would run in the clock's process
inline constexpr std::array kAll{kResult,  kMemory, kStream,    kUnfinished, kKept,    kTimed,
                                 kRepeats, kFresh,  kClock,     kCode,       kChannel, kNeighbours,
                                 kLeak,    kFloor,  kPrecision, kHostCode};

// The step with this name. Empty if there is none.
constexpr std::string_view from_name(std::string_view text) {
  for (const std::string_view name : kAll)
    if (name == text) return name;
  return "";
}

}  // namespace kzoo::step
