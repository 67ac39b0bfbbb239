#pragma once
// The least time that a problem takes under the roof, and times that are below it.

#include "core/problem.hpp"
#include "roofline/peaks.hpp"

#include <optional>
#include <string>

namespace kzoo::roofline {

// max(operations / peak, compulsory bytes / bandwidth), and the greater of the two alone.
struct floor {
  double ms = 0;
  roofline::resource resource{};  // which takes that long: what computes, or the memory
  double amount = 0;              // operations or bytes
  double rate = 0;                // the ceiling: per second
};

// Of 2 M N K operations in the declared precision, and, where caches are cold, of what has to come
// from DRAM: A and B, once each, and C where beta is not 0. A C that is written may still be in the
// L2 when the clock stops: only what exceeds that counts. Nothing where no ceiling applies, or
// where alpha is 0, which leaves nothing to multiply.
std::optional<floor> floor_of(const peaks& c, const problem& p, kzoo_precision declared,
                              bool cold_cache);

// "53.4 TFLOP/s".
std::string rate_text(resource r, double per_second);
// "137 GFLOP at the measured 53.4 TFLOP/s".
std::string text_of(const floor& f);

// Ceilings are measured themselves: so much below a floor a time may be.
inline constexpr double kTolerance = 0.02;
bool is_below(double ms, const floor& f);

// Why a time below the floor is none, for whoever wrote the kernel.
std::string why_impossible(double ms, const floor& f, kzoo_precision declared);

}  // namespace kzoo::roofline
