#pragma once
// Everyone against everyone, over all problems.

#include "results/results.hpp"

#include <string>

namespace kzoo::report {

// The N x N matrix, each entry the worst over the problems that both took part in; then the pairs
// that disagree, with where. "" when no two results were compared.
std::string agreement_matrix(const results::document& d, bool colour);

}  // namespace kzoo::report
