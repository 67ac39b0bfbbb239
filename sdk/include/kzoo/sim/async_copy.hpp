// cp.async in the simulator. Behind async_copy.hpp. A copy is done as late as possible: by the wait
// for its group. Until then its destination contains NaN.
#pragma once

#include <source_location>

namespace kzoo::sim {

void copy_async(void* shared, const void* global, unsigned bytes, bool inside,
                std::source_location where);
void commit_copies();
void wait_for_copies(unsigned pending);

}  // namespace kzoo::sim
