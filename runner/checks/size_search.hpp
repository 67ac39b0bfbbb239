#pragma once
// Finds the sizes at which a wrong kernel is right.

#include "checks/candidate.hpp"

#include <string>

namespace kzoo::checks {

struct size_report {
  // "only right where K is a multiple of 16: 16x16xK is right at 16, 32, wrong at 1, 17"; or "".
  std::string text;
  problem smallest_wrong;  // of those tried
};

// Tries small sizes of the problem on which the kernel, of a worker that has ended, is wrong.
size_report search_sizes(client::plugin_client& client, const candidate_description& wrong,
                         expected_results& expected);

}  // namespace kzoo::checks
