#pragma once
// What finds that a kernel fails in a run, by the names that results give it. The checks of a tier
// have names of their own.

#include <array>
#include <string_view>

namespace kzoo::step {

inline constexpr std::string_view kResult = "result",  // C is not what it should be
    kMemory = "memory writes",            // into A, B, or around a matrix or the workspace
    kStream = "stream",                   // work is not on the stream that is given
    kUnfinished = "unfinished work",      // C still changes when the stream is done
    kKept = "kept result",                // C is what an earlier run's numbers give
    kTimed = "timed runs",                // right when it was judged, wrong when it was timed
    kRepeats = "repeats",                 // other bits on the same numbers
    kFresh = "fresh memory",              // wrong in memory that was just allocated
    kClock = "clock",                     // the clock of its process is wrong
    kCode = "loaded code",                // of the runner or a library, changed in its process
    kChannel = "channel",                 // it wrote what only its worker should
    kNeighbours = "work after its turn",  // which delays others
    kLeak = "leak",                       // memory that is not given back
    kFloor = "roofline floor",            // less time than the device needs
    kPrecision = "precision",             // it declares a lower one than its problem takes
    kHostCode = "host code";              // its author's code would run beside the clock
inline constexpr std::array kAll{kResult,  kMemory, kStream,    kUnfinished, kKept,    kTimed,
                                 kRepeats, kFresh,  kClock,     kCode,       kChannel, kNeighbours,
                                 kLeak,    kFloor,  kPrecision, kHostCode};

// The name of the step as it stands above, "" for a text that is none.
constexpr std::string_view from_name(std::string_view text) {
  for (const std::string_view name : kAll)
    if (name == text) return name;
  return "";
}

}  // namespace kzoo::step
