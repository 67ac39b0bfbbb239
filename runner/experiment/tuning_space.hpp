#pragma once
// The space of parameters that a kernel is tuned over:
//
//   [tune]
//   BM = [64, 128]
//   TM = "4..16 by 4"
//   restrictions = ["BM * BN <= 16384"]

#include "experiment/reader.hpp"
#include "results/tuning.hpp"

#include <optional>
#include <vector>

namespace kzoo::experiment {

// A space may have so many points.
inline constexpr std::size_t kMostPoints = 10000;

// The table of a space; what is wrong in it is reported.
std::optional<results::tuning_space> read_tuning_space(const value& v);

// Its points, in the order in which the last parameter varies fastest. Throws input::invalid where
// no point is left or there are too many, and for a restriction that cannot be computed.
std::vector<results::tuning_point> points_of(const results::tuning_space& space);

}  // namespace kzoo::experiment
