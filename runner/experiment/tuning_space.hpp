#pragma once
// The tuning space of a kernel:
//
//   [tune]
//   BM = [64, 128]
//   TM = "4..16 by 4"
//   restrictions = ["BM * BN <= 16384"]

#include "experiment/reader.hpp"
#include "results/plugin.hpp"

#include <optional>
#include <vector>

namespace kzoo::experiment {

// The limit of configurations in a space.
inline constexpr std::size_t kMostPoints = 10000;

// Reads the table of a space and reports errors in it.
std::optional<results::tuning_space> read_tuning_space(const value& v);

// The configurations of the space; the last parameter varies fastest. Throws input::invalid for too
// many or none, and for a restriction that cannot be computed.
std::vector<results::tuning_point> points_of(const results::tuning_space& space);

}  // namespace kzoo::experiment
