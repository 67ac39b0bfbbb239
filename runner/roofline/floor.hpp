#pragma once
// The roofline model's lower bound on the time of a problem, and times below it.

#include "core/problem.hpp"
#include "roofline/peaks.hpp"

#include <optional>
#include <string>

namespace kzoo::roofline {

// max(operations / peak, compulsory bytes / bandwidth).
struct floor {
  double ms = 0;
  roofline::resource resource{};  // the limiting resource: arithmetic or memory
  double amount = 0;              // operations or bytes
  double rate = 0;                // its measured peak: per second
};

// Counts 2 M N K operations in the declared precision. Cold caches add compulsory DRAM traffic:
// reading each input, reading C if beta is not 0, and writing C. As much of C as fits in the L2 may
// stay there when timing ends, and does not count. Nothing if no peak applies, or if alpha is 0.
std::optional<floor> floor_of(const peaks& measured, const problem& p, kzoo_precision declared,
                              bool cold_cache);

// The arithmetic peak in operations per second of the problem; nothing: no measured peak bounds it,
// and the floor is only the memory traffic's.
std::optional<double> peak_of(const peaks& measured, const problem& p, kzoo_precision declared);

// Operations per byte of the compulsory traffic with a cold cache.
double intensity_of(const peaks& measured, const problem& p);
// The memory rate that the floor uses; nothing: not measured.
std::optional<double> memory_rate(const peaks& measured);

// "53.4 TFLOP/s".
std::string rate_text(resource r, double per_second);
// "137 GFLOP at the measured 53.4 TFLOP/s".
std::string text_of(const floor& f);

// Peaks are measured, hence not exact: a time may be below its floor by this share.
inline constexpr double kTolerance = 0.02;
bool is_below(double ms, const floor& f);

// Tells the kernel's author why a time below the floor is refused.
std::string why_impossible(double ms, const floor& f, kzoo_precision declared);

}  // namespace kzoo::roofline
