#pragma once
// Everyone against everyone, over all problems.

#include "report/page.hpp"
#include "results/document.hpp"

namespace kzoo::report {

// The N x N matrix, each entry the worst over the problems that both took part in; then the pairs
// that disagree, with where. Nothing when no two results were compared. A matrix is too wide for
// Markdown: there it is the pairs alone.
void add_agreement(page& p, const results::document& d);

}  // namespace kzoo::report
