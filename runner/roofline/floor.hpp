#pragma once
// The lower bound that the roofline model sets on the time of a problem, and times below it.

#include "core/problem.hpp"
#include "roofline/peaks.hpp"

#include <optional>
#include <string>

namespace kzoo::roofline {

// max(operations / peak, compulsory bytes / bandwidth): the greater of the two.
struct floor {
  double ms = 0;
  roofline::resource resource{};  // the limiting one: arithmetic or memory
  double amount = 0;              // operations or bytes
  double rate = 0;                // its measured peak: per second
};

// Counts 2 M N K operations in the declared precision and, where caches are cold, the compulsory
// DRAM traffic: reading A and B once each, and C where beta is not 0. As much of the written C as
// fits in the L2 may still be there when timing ends, so only the rest of it counts. Nothing where
// no peak applies, or where alpha is 0, which leaves nothing to multiply.
std::optional<floor> floor_of(const peaks& measured, const problem& p, kzoo_precision declared,
                              bool cold_cache);

// The peak of the arithmetic that counts there, in operations per second of the problem; nothing:
// none that bounds it is measured, and the floor is that of the memory traffic alone.
std::optional<double> peak_of(const peaks& measured, const problem& p, kzoo_precision declared);

// Operations per byte of that compulsory traffic, with a cold cache: the problem's place on the
// roofline.
double intensity_of(const peaks& measured, const problem& p);
// The rate of the memory that the floor is computed with; nothing: it was not measured.
std::optional<double> memory_rate(const peaks& measured);

// "53.4 TFLOP/s".
std::string rate_text(resource r, double per_second);
// "137 GFLOP at the measured 53.4 TFLOP/s".
std::string text_of(const floor& f);

// Peaks are measured and so not exact: a time may be below its floor by this share.
inline constexpr double kTolerance = 0.02;
bool is_below(double ms, const floor& f);

// Why a time below the floor is refused: the reason that the kernel's author reads.
std::string why_impossible(double ms, const floor& f, kzoo_precision declared);

}  // namespace kzoo::roofline
