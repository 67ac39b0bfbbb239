#pragma once
// The process of one rank: the other end of ranks/dispatch.hpp.

#include "results/document.hpp"
#include "run/plan.hpp"

#include <functional>
#include <string>

namespace kzoo::ranks {

using plan_factory =
    std::function<run::plan(const results::document& head, const std::string& device)>;

// Runs the problems that it receives until there are no more. Returns the process's exit code.
int rank_main(const plan_factory& make_plan);

}  // namespace kzoo::ranks
