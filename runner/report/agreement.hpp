#pragma once
// Compares all kernels with each other, over all problems.

#include "report/page.hpp"
#include "results/document.hpp"

namespace kzoo::report {

// The N x N matrix, each entry the worst over the problems that both kernels ran; then the pairs
// that disagree, with the element. Adds nothing when no two results were compared. Markdown gets
// the pairs only, since the matrix is too wide.
void add_agreement(page& p, const results::document& d);

}  // namespace kzoo::report
