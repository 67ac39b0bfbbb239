#pragma once
// The process of one device of several, at the other end of shards/dispatch.hpp.

#include "results/document.hpp"
#include "run/plan.hpp"

#include <functional>
#include <string>

namespace kzoo::shards {

// The experiment of a head of results, planned for one device.
using plan_factory =
    std::function<run::plan(const results::document& head, const std::string& device)>;

// Runs the problems that it is given until there are no more. The exit code of the process.
int shard_main(const plan_factory& make_plan);

}  // namespace kzoo::shards
