#pragma once
// Ways to fail in a run, as named in results. Checks have their own names.

#include <array>
#include <string_view>

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
    kCode = "loaded code",                // of the runner or a library, changed in its process
    kChannel = "channel",                 // it wrote messages that only its worker may write
    kNeighbours = "work after its turn",  // which delays others
    kLeak = "leak",                       // memory that is not given back
    kFloor = "roofline floor",            // less time than the device needs
    kPrecision = "precision",             // it declares a lower precision than its problem takes
    kHostCode = "host code";              // its author's code would run in the clock's process
inline constexpr std::array kAll{kResult,  kMemory, kStream,    kUnfinished, kKept,    kTimed,
                                 kRepeats, kFresh,  kClock,     kCode,       kChannel, kNeighbours,
                                 kLeak,    kFloor,  kPrecision, kHostCode};

// The step with this name; "": none.
constexpr std::string_view from_name(std::string_view text) {
  for (const std::string_view name : kAll)
    if (name == text) return name;
  return "";
}

}  // namespace kzoo::step
